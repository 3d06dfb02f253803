// SPDX-License-Identifier: Apache-2.0
import { selects } from '#api/object/label-selector.ts';
import type { DisruptionBudget } from '#api/workload/disruption-budget.ts';
import type { RestartState } from './restart-state.ts';
import { rolloutOf, takesPodsAway } from './rollout.ts';

/**
 * Opted-in workloads that lose pods now or soon. The status of a PodDisruptionBudget shows neither
 * the next pod of a rollout nor a restart that no controller has noticed yet.
 */
export class OngoingDisruptions {
  readonly #rollouts: RestartState[];
  /** Those of the rollouts that we began recently. */
  readonly #begun: RestartState[];
  readonly #evictions: RestartState[] = [];

  constructor(states: readonly RestartState[], wasBegunRecently: (state: RestartState) => boolean) {
    this.#rollouts = states.filter(
      ({ workload }) => takesPodsAway(workload) && rolloutOf(workload).kind === 'progressing',
    );
    this.#begun = this.#rollouts.filter(wasBegunRecently);
  }

  /** Records that a restart has begun, or that an eviction was recent. */
  add(state: RestartState): void {
    if (state.way === 'eviction') {
      this.#evictions.push(state);
    } else if (takesPodsAway(state.workload)) {
      this.#rollouts.push(state);
      this.#begun.push(state);
    }
  }

  /**
   * Reports whether the pods of another workload use one of the budgets. The API server holds each
   * eviction to its budgets, so an eviction waits for rollouts only.
   *
   * Past its deadline a workload waits only for those that we began recently. A workload that never
   * becomes ready, with or without a rollout, must not outlast the certificate.
   *
   * @param budgets - those that select the pods of the workload
   */
  uses(
    budgets: readonly DisruptionBudget[],
    { key, way, workload, deadline }: RestartState,
    now: number,
  ): boolean {
    const rollouts = now < deadline ? this.#rollouts : this.#begun;
    const ongoing = way === 'eviction' ? rollouts : [...rollouts, ...this.#evictions];
    const others = ongoing.filter(
      (each) =>
        each.key !== key && each.workload.metadata.namespace === workload.metadata.namespace,
    );
    return budgets.some(({ spec: { selector } = {} }) =>
      others.some(
        (other) =>
          selector !== undefined &&
          selects(selector, other.workload.spec.template.metadata?.labels),
      ),
    );
  }
}
