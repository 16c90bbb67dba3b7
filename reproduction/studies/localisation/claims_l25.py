"""L25 section 5.3.1, Fig. 1, and App. A.16, Table 9: Grad-CAM against boxes, and AUROC of several labels, on garments."""

from __future__ import annotations

from reproduction.ledger.evidence import All, Evidence, Unchecked
from reproduction.ledger.ledger import Rows
from reproduction.studies.localisation.contrasts import NEEDS, contrast_of_record
from reproduction.studies.localisation.plan import FCL, ONE, SEVERAL, Plan, losses_compared

CHAPTER = "where_it_looks"
BOTH = (ONE, SEVERAL)
CE, FOCAL, FCL_LABEL = losses_compared()
TRAINED = rf"$\gamma = {FCL[0]:g}$, $\lambda = {FCL[1]:g}$, a small network, {Plan.n_train:,} canvases to train on and {Plan.epochs} epochs"
SIZE = f"The paper's images are chest X-rays. Here: garments among cut-outs of others, one or several on a canvas, {TRAINED}."


def maps(metric: str, *pairs: tuple[str, str], sign: int) -> Evidence:
    """A metric of heat maps, in both settings: one loss minus another, for each pair."""
    names = [f"{metric}: {ours} minus {theirs}" for ours, theirs in pairs]
    return All(tuple(contrast_of_record(setting, name, sign) for setting in BOTH for name in names))


add_quoted = Rows(CHAPTER, "quoted")
add_ours = Rows(CHAPTER, "ours", needs=NEEDS)

# Needs ChestX-ray14.
add_quoted(
    "l25.chexnet",
    "FCL improves localisation and robustness on chest X-rays",
    "L25 section 1, with section 5.3.1, Fig. 1, and App. A.16, Table 9",
    r"'We also show that FCL improves anomaly localization, recognition, and robustness in Chest X-ray imaging applications.'",
    lambda: Unchecked(
        "needs the 112,120 images of ChestX-ray14, which this book does not fetch. With them in FOCAL_DATA/chest-xray14: "
        "`python -m reproduction.studies.localisation.record --chest --network densenet121 --n-train 86524 --n-test 25596 --epochs 100 --seeds 1 "
        "--out chest.parquet`. It trains all losses, on the CPU, as long as that takes. "
        "The verdict is then to be computed by hand, from the metrics of each network in chest.parquet"
    ),
)

# How far maps spread, paired over seeds.
add_ours(
    "l25.fig1_broader",
    "Grad-CAM is more concentrated with focal loss than cross-entropy",
    "L25 section 5.3.1, Fig. 1, asked of other images",
    r"'For Cross Entropy, the heatmaps show broader regions of activation ... In contrast, focal loss demonstrates more concentrated regions of "
    rf"activation.' (Taken as: half of the energy of Grad-CAM lies in a smaller share of the image with focal loss. {SIZE})",
    lambda: maps("spread", (FOCAL, CE), sign=-1),
)

# Energy in the box, paired over seeds.
add_ours(
    "l25.fig1_precise",
    "Grad-CAM lies most within the object with FCL",
    "L25 section 5.3.1, Fig. 1, asked of other images",
    r"'Focal Calibration Loss, on the other hand, provides the most well-defined and precise activation areas.' (Taken as: with FCL a larger "
    rf"share of the energy of Grad-CAM lies in the object's box than with cross-entropy, and than with focal loss. {SIZE})",
    lambda: maps("energy", (FCL_LABEL, CE), (FCL_LABEL, FOCAL), sign=1),
    instead="with several garments less than with focal loss",
)

# The pointing game, paired over seeds.
add_ours(
    "l25.fig1_pointing",
    "Grad-CAM's maximum hits the object most often with FCL",
    "L25 section 5.3.1, Fig. 1, asked of other images",
    r"FCL 'results in clearer boundaries and more accurate localization of anomalies'. (Taken as: with FCL the highest point of Grad-CAM lies in "
    rf"the object's box more often than with cross-entropy, and than with focal loss. {SIZE})",
    lambda: maps("pointing", (FCL_LABEL, CE), (FCL_LABEL, FOCAL), sign=1),
    instead="with several garments less often than with focal loss",
)


# Three metrics of several labels, paired over seeds.
add_ours(
    "l25.table9_garments",
    "FCL improves AUROC, ECE and MCE on labels of garments",
    "L25 App. A.16, Table 9, asked of other images",
    r"'FCL consistently yields strong performance gains, particularly in terms of average AUROC and reliability scores (ECE, MCE).' (Taken as: "
    r"against binary cross-entropy the mean AUROC over labels is higher, ECE and MCE of all labels together, in bins of equal width, are lower. The paper's images are chest "
    rf"X-rays. Here: {SEVERAL} among cut-outs of others, {TRAINED}, "
    "after which binary cross-entropy is hardly overconfident. Where it overfits the order may turn.)",
    lambda: All(
        tuple(
            contrast_of_record(SEVERAL, f"{metric}: {FCL_LABEL} minus {CE}", sign)
            for metric, sign in (("auroc", 1), ("ece", -1), ("mce", -1))
        )
    ),
    instead="after 6 epochs ECE and MCE are higher with FCL",
)

# ECE after the map minus as trained, paired over seeds.
add_ours(
    "l25.labels_after_map",
    "Several labels: the map lowers ECE of focal loss and FCL",
    "L25 App. A.16, taken further by KK24's decomposition",
    r"Of several labels, each after the map of its own two classes, focal loss and FCL have a lower ECE, in bins of equal width, than as trained. (Here: "
    rf"{SEVERAL} among cut-outs of others, {TRAINED}; no validation data are used.)",
    lambda: All(
        tuple(contrast_of_record(SEVERAL, f"ece: {loss} after its map minus {loss}", -1) for loss in (FOCAL, FCL_LABEL))
    ),
)
