"""All assets of one study, in the order in which plans pass them."""

from __future__ import annotations

import dagster as dg

from assets.episodes import episodes
from assets.g0_spike import g0_spike
from assets.report import report, summary
from assets.reward_bench import reward_bench
from assets.reward_training import reward_training
from assets.rewards import rollout_rewards
from assets.scope import Scope
from assets.stage_b import stage_b
from assets.stage_c import stage_c


def study_assets(scope: Scope) -> list[dg.AssetsDefinition | dg.SourceAsset]:
    rewards = scope.study.rewards
    builders = [g0_spike, stage_b, stage_c, rollout_rewards, report, summary]
    builders += [reward_bench] if rewards.benchmarked else []
    builders += [reward_training] if rewards.training else []
    return [episodes(scope), *(build(scope) for build in builders)]
