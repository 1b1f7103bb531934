"""All assets of one study, in the order in which plans pass them."""

from __future__ import annotations

import dagster as dg

from assets.episodes import episodes
from assets.g0_spike import g0_spike
from assets.report import report, summary
from assets.rewards import rollout_rewards
from assets.scope import Scope
from assets.stage_b import stage_b
from assets.stage_c import stage_c


def study_assets(scope: Scope) -> list[dg.AssetsDefinition | dg.SourceAsset]:
    builders = (g0_spike, stage_b, stage_c, rollout_rewards, report, summary)
    return [episodes(scope), *(build(scope) for build in builders)]
