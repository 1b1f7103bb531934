"""Stage C: policies, the rollout (simulation -> trace), and the judge (trace -> verdict, pure)."""
