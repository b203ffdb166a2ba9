"""A public set of four concepts in the layouts of the public repositories, with their faults."""

from __future__ import annotations

import hashlib
from pathlib import Path

from proprl.data.public.catalogue import BenchmarkSet, PublicFile

COMMIT = "0" * 40

# The label 0,1 means the topics after Web_page and after Sets: Sets → Logic.
FILES = {
    "dgcpl/Tiny/concepts_index.csv": "0,Web_page\n1,Sets\n2,Logic_(mathematics)\n3,Proof\n",
    "dgcpl/Tiny/train.csv": "start_concept,end_concept,result\n0,1,1\n1,0,0\n0,1,1\n",
    "dgcpl/Tiny/val.csv": "start_concept,end_concept,result\n1,2,1\n",
    "dgcpl/Tiny/test.csv": "start_concept,end_concept,result\n0,1,1\n2,1,0\n",
    "dgcpl/Tiny/clickStreamLink_data_id.csv": (
        "C1(head)_id,C2(tail)_id,Num\n1,2,37.0\n0,3,12\n1,2,500.0\n"
    ),
    # GKROM has a concept more, in another order. Between the last two topics Proof stands again.
    "gkrom/Tiny/concepts_index.csv": (
        "0,Proof\n1,Web_page\n2,Sets\n3,Logic_(mathematics)\n4,Trees\n"
    ),
    "gkrom/Tiny/resources_index.csv": "0,uni_101\n1,uni_202\n",
    "gkrom/Tiny/r_contain_c_data_train.csv": "resource,concept,result\n0,2,1\n1,4,1\n1,2,0\n",
    "gkrom/Tiny/r_contain_c_data_val.csv": "resource,concept,result\n1,0,1\n",
    "gkrom/Tiny/r_contain_c_data_test.csv": "resource,concept,result\n0,3,1\n",
    "gkrom/Tiny/depend_on_r_data_train.csv": "resource_1,resource_2,result\n1,0,1\n0,1,0\n",
    "gkrom/Tiny/depend_on_r_data_val.csv": "resource_1,resource_2,result\n1,0,1\n",
    "gkrom/Tiny/depend_on_r_data_test.csv": "resource_1,resource_2,result\n0,1,0\n",
    "prereq/tiny/cs_courses.csv": (
        'uni_202,"Proofs. Of ""truth"", and more."\nuni_101,Sets\0first.\n'
    ),
}

TINY = BenchmarkSet(
    name="tiny",
    title="Four concepts",
    subject="mathematics",
    folder="Tiny",
    counts={"concepts": 4, "resources": 2, "transitions": 2, "pairs": 6, "positives": 4},
    citation="Nobody, nowhere.",
    files=tuple(
        PublicFile(
            path=path,
            repository="owner/tiny set",
            commit=COMMIT,
            source=f"data/{path}",
            size=len(content.encode()),
            sha256=hashlib.sha256(content.encode()).hexdigest(),
        )
        for path, content in FILES.items()
    ),
    texts="prereq/tiny/cs_courses.csv",
    repeated_topics=((4, "Proof"),),
    released_behaviour_offset=-1,
)


def write_tiny(root: Path, within: str = "") -> Path:
    """Write the files of the set under `root`, as a data folder holds them or as a host does."""
    for path, content in FILES.items():
        file = root / within / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode())
    return root
