"""What was measured before is data; this validates it."""

from __future__ import annotations

from proprl.experiments.settings.published import SETS
from proprl.experiments.show.recorded import RECORDED_ENCODER, recorded_cells, recorded_rows
from proprl.experiments.studies.ours import MEASURED
from proprl.experiments.studies.table1 import table1_methods


class TestRecorded:
    def test_it_holds_the_papers_methods_on_every_set_and_metric(self) -> None:
        table = recorded_rows()
        assert {method for _, method, *_ in table} == set(table1_methods())
        wanted = {
            (protocol, method, course, metric)
            for protocol, (metrics, _, _) in MEASURED.items()
            for method in table1_methods()
            for course in SETS
            for metric in metrics
        }
        assert set(table) == wanted
        assert {row.runs for row in table.values()} == {3, 5, 10}
        assert all(row.low <= row.mean <= row.high for row in table.values())

    def test_what_was_not_measured_gives_no_row(self) -> None:
        assert recorded_cells("leak-free", SETS, ["auc"], RECORDED_ENCODER)
        assert recorded_cells("leak-free", ["mooc", "campus"], ["auc"], RECORDED_ENCODER) == {}
        assert recorded_cells("leak-free", SETS, ["auc"], "wordllama") == {}
