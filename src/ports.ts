// SPDX-License-Identifier: Apache-2.0
/**
 * What the core needs from the outside world, as function types (L0).
 *
 * They are always required arguments: with a default clock, a test could use the real one by mistake.
 */

/** Milliseconds since the Unix epoch, UTC. */
export type Clock = () => number;

/**
 * A monotonic clock: milliseconds since an arbitrary time. It cannot be set, and continues while the process
 * is stopped. Use it for deadlines that must hold even if the {@link Clock} changes.
 */
export type Monotonic = () => number;

/** `size` bytes from a cryptographically secure source; throws if none are available. */
export type Random = (size: number) => Uint8Array;

/** Resolves after `milliseconds`; rejects with the signal's reason as soon as it is aborted. */
export type Delay = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** Structured fields of a log line. Never a key, a token or a Secret's data. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A structured logger. Methods never throw. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/**
 * Runs what is in a signer's spec, an expression or a pattern, and ends it when it holds the thread for too
 * long. Whatever it throws passes through; when it is ended, the error is no SignerError, and what it had begun
 * to change may be half-written.
 */
export interface Deadline {
  /** Compiles what the field `where` holds, or returns what it was compiled to before. */
  readonly compile: <T>(where: string, work: () => T) => T;
  /**
   * Evaluates what the field `where` holds.
   *
   * @param onEnded - told when the work was ended
   */
  readonly evaluate: <T>(where: string, work: () => T, onEnded?: () => void) => T;
  /**
   * Runs work that evaluates several fields, under one deadline for all of them. It must leave nothing
   * half-written when it is ended.
   *
   * @param where - the part of the spec that holds them
   * @param cost - the worst case of all of them, in the unit of cel/compile.ts
   */
  readonly together: <T>(where: string, cost: number, work: () => T) => T;
}

/** Ends nothing. */
export const NO_DEADLINE: Deadline = {
  compile: (_where, work) => work(),
  evaluate: (_where, work) => work(),
  together: (_where, _cost, work) => work(),
};
