"""What runs say together, and beside what the papers print."""

from focal_lib.results.by_run import (
    compare_scaling,
    confidence_gaps,
    format_mean_sd,
    nll_temperature,
    resample_gain,
    temperature_by_gamma,
    validation_temperatures,
)
from focal_lib.results.confident import (
    CONFIDENT,
    agreed,
    beside_table6,
    caption_agreed,
    confidence_where_agreed,
    confident_shares,
)
from focal_lib.results.experiments import (
    Experiment,
    experiment_table,
    list_experiments,
    recorded_data,
)
from focal_lib.results.over_seeds import (
    SCALINGS,
    contrast,
    correct_together,
    format_as_kk24,
    measure,
    summarise,
    write_table,
)
from focal_lib.results.printed import (
    kk24_table1,
    l25_table9,
    m20_fig8,
    m20_table6,
    printed_tables,
)
from focal_lib.results.printed.side_by_side import (
    compare_with_printed,
)
from focal_lib.results.printed.study import (
    correlate_orders,
    count_best,
    find_equal_rows,
    find_moved_columns,
    gains_of_kk24,
    match_papers,
    match_restated,
)
from focal_lib.results.recorded import (
    load_recorded,
    read_table,
    read_unknown,
)
from focal_lib.results.unknown_inputs import (
    compare_by_shift,
    mean_over_shifts,
    measure_detection,
    measure_shift,
    unknown_images,
)
from focal_lib.results.while_training import (
    describe_followed,
    gradient_norms_at,
    histories,
    lowest_epoch,
    minus_cross_entropy,
    over_seeds_by_epoch,
    reliability_by_epoch,
)
from focal_lib.results.written_contrasts import (
    compare_eces,
    evaluate_contrasts,
    format_contrasts,
    primary_contrast,
)
from focal_lib.results.written_unknown import (
    FRESH_DIGITS,
    RECORDED_DIGITS,
    digit_contrasts,
    shift_contrasts,
)

__all__ = [
    "CONFIDENT",
    "FRESH_DIGITS",
    "RECORDED_DIGITS",
    "SCALINGS",
    "Experiment",
    "agreed",
    "beside_table6",
    "caption_agreed",
    "compare_by_shift",
    "compare_eces",
    "compare_scaling",
    "compare_with_printed",
    "confidence_gaps",
    "confidence_where_agreed",
    "confident_shares",
    "contrast",
    "correct_together",
    "correlate_orders",
    "count_best",
    "describe_followed",
    "digit_contrasts",
    "evaluate_contrasts",
    "experiment_table",
    "find_equal_rows",
    "find_moved_columns",
    "format_as_kk24",
    "format_contrasts",
    "format_mean_sd",
    "gains_of_kk24",
    "gradient_norms_at",
    "histories",
    "kk24_table1",
    "l25_table9",
    "list_experiments",
    "load_recorded",
    "lowest_epoch",
    "m20_fig8",
    "m20_table6",
    "match_papers",
    "match_restated",
    "mean_over_shifts",
    "measure",
    "measure_detection",
    "measure_shift",
    "minus_cross_entropy",
    "nll_temperature",
    "over_seeds_by_epoch",
    "primary_contrast",
    "printed_tables",
    "read_table",
    "read_unknown",
    "recorded_data",
    "reliability_by_epoch",
    "resample_gain",
    "shift_contrasts",
    "summarise",
    "temperature_by_gamma",
    "unknown_images",
    "validation_temperatures",
    "write_table",
]
