"""When focal loss helps as trained: predicted from one cross-entropy run, and tested on runs made afterwards."""
