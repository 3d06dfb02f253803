// SPDX-License-Identifier: Apache-2.0

/** Turns of a namespace at one name and type. */
interface Turns {
  /** Completed rounds. Namespaces with the fewest come next. */
  round: number;
  /** Turns of the namespace itself. */
  had: number;
}

/**
 * Length of a turn. It exceeds slow DNS: one turn can prove a zone whose secondaries take half an
 * hour.
 */
const CHALLENGE_TURN_MS = 45 * 60_000;
/**
 * Length of the first turn if many namespaces wait for one name: as short as quick DNS allows.
 * Hundreds of whole turns would outlast every authorization. The second turn is a whole one.
 */
const SHORT_CHALLENGE_TURN_MS = 3 * 60_000;
/** Number of namespaces that have whole turns within eight hours. */
const FEW_NAMESPACES = 10;

/**
 * Turns of namespaces at one name and type, in rounds. No namespace gets a second turn before each
 * waiting one had a first.
 */
export class NameTurns {
  readonly #turns = new Map<string, Turns>();

  /**
   * Adds a namespace that starts to wait, also again. It joins the current round, so that it is
   * neither first nor last.
   */
  join(namespace: string, others: readonly string[], running: readonly string[]): void {
    const rounds = [
      ...others.filter((each) => each !== namespace).map((each) => this.#of(each).round),
      ...running.map((each) => this.#of(each).round - 1),
    ];
    const turns = this.#of(namespace);
    if (rounds.length > 0) turns.round = Math.max(turns.round, Math.min(...rounds));
  }

  /** Starts a turn of the namespace. */
  begin(namespace: string): void {
    const turns = this.#of(namespace);
    turns.round += 1;
    turns.had += 1;
  }

  roundOf(namespace: string): number {
    return this.#turns.get(namespace)?.round ?? 0;
  }

  /** Returns the length of a namespace's turn while others wait. */
  lengthOf(namespace: string, waiting: ReadonlySet<string>): number {
    const isFirst = this.#of(namespace).had <= 1;
    return isFirst && waiting.size > FEW_NAMESPACES ? SHORT_CHALLENGE_TURN_MS : CHALLENGE_TURN_MS;
  }

  #of(namespace: string): Turns {
    const found = this.#turns.get(namespace) ?? { round: 0, had: 0 };
    this.#turns.set(namespace, found);
    return found;
  }
}
