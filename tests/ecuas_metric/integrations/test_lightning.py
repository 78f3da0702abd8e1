import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ecuas_metric import score_confidences, score_posteriors
from tests.ecuas_metric.integrations.live import run

pytestmark = [pytest.mark.integrations, pytest.mark.e2e]
LOOP = """
import json
import lightning
import torch
from ecuas_metric.integrations.torchmetrics import ECUAS

torch.manual_seed(0)
X, y = torch.randn(50, 4, dtype=torch.float64), torch.randint(0, 3, (50,))

class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 3, dtype=torch.float64)
        self.one = ECUAS("posteriors", only="ecuas_1", predictions_are="logits")
        self.all = ECUAS("posteriors", n=(0, 1), predictions_are="logits")

    def test_step(self, batch, index):
        logits = self.layer(batch[0])
        self.one(logits, batch[1])
        self.all.update(logits, batch[1])
        self.log("one", self.one, on_step=False, on_epoch=True)

    def on_test_epoch_end(self):
        self.log_dict({key: value for key, value in self.all.compute().items() if "error" not in key})
        self.all.reset()

loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), 8)
quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "enable_checkpointing": False}
module = Module()
logged = [lightning.Trainer(accelerator="cpu", **quiet).test(module, loader, verbose=False)[0] for _ in range(2)]
print(json.dumps({"logged": logged, "logits": module.layer(X).tolist(), "labels": y.tolist()}))
"""


def test_a_module_logs_what_the_functions_of_arrays_give(tmp_path):
    found = json.loads(run("lightning", tmp_path, "-c", LOOP).stdout.splitlines()[-1])
    expected = score_posteriors(found["labels"], found["logits"], predictions_are="logits", n=(0, 1))
    for logged in found["logged"]:  # the second time over, nothing is left of the first
        assert logged["one"] == pytest.approx(expected["ecuas_1"], abs=1e-6)  # Lightning logs float32
        for key in ("ecuas_0", "auroc"):
            assert logged[key] == pytest.approx(expected[key], abs=1e-6)


PROCESS = """
import json, sys
import numpy as np
import torch
import torch.distributed as dist
from ecuas_metric.integrations.torchmetrics import ECUAS

rank = int(sys.argv[1])
dist.init_process_group("gloo", init_method="file://" + sys.argv[2], rank=rank, world_size=2)
rng = np.random.default_rng(0)
confidence, correct = torch.tensor(rng.random(100)), torch.tensor(rng.integers(0, 2, 100))
metric = ECUAS(n=(0, 1))
for rows in ([range(30), range(30, 100)], [])[rank]:
    metric.update(confidence[list(rows)], correct[list(rows)])
print(json.dumps({name: value.item() for name, value in metric.compute().items()}))
dist.destroy_process_group()
"""


def test_two_processes_of_which_one_has_no_rows(tmp_path):
    command = ["-W", "ignore", "-c", PROCESS]
    with ThreadPoolExecutor(2) as pool:
        done = pool.map(lambda rank: run("lightning", tmp_path, *command, str(rank), str(tmp_path / "store")), range(2))
        printed = [each.stdout.splitlines()[-1] for each in done]
    assert len(set(printed)) == 1
    rng, found = np.random.default_rng(0), json.loads(printed[0])
    confidence, correct = rng.random(100), rng.integers(0, 2, 100)
    expected = score_confidences(correct, confidence, n=(0, 1))
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)
