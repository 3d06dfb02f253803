// SPDX-License-Identifier: Apache-2.0
/**
 * Connections of the core to the outside world, as function types.
 *
 * They are always required arguments: with a default clock, a test could use the real one by
 * mistake.
 */

/** Milliseconds since the Unix epoch, UTC. */
export type Clock = () => number;

/**
 * A monotonic clock: milliseconds since an arbitrary time. It cannot be set, and continues while
 * the process is stopped. Use it for deadlines that must hold even if the {@link Clock} changes.
 */
export type Monotonic = () => number;

/** Returns `size` bytes from a cryptographically secure source. Throws if none are available. */
export type Random = (size: number) => Uint8Array;

/** Resolves after `milliseconds`. Rejects with the signal's reason as soon as it aborts. */
export type Delay = (milliseconds: number, signal?: AbortSignal) => Promise<void>;

/** Structured fields of a log line. Never a key, a token, or a Secret's data. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A structured logger. Methods never throw. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

/**
 * Runs an expression or a pattern of a signer's spec, and stops it if it holds the thread for too
 * long. Errors of the work pass through. The error of a stopped work is not a SignerError, and the
 * work's changes may be incomplete.
 */
export interface Deadline {
  /** Compiles the field `where`, or returns the earlier result. */
  readonly compile: <T>(where: string, work: () => T) => T;
  /**
   * Evaluates the field `where`.
   *
   * @param onEnded - called when the work was stopped
   */
  readonly evaluate: <T>(where: string, work: () => T, onEnded?: () => void) => T;
  /**
   * Runs work that evaluates several fields, under one deadline for all of them. When stopped, it
   * must leave no incomplete changes.
   *
   * @param where - the part of the spec that has them
   * @param cost - the worst case of all of them, in the unit of cel/compile.ts
   */
  readonly together: <T>(where: string, cost: number, work: () => T) => T;
}

/** Sets no deadline. */
export const NO_DEADLINE: Deadline = {
  compile: (_where, work) => work(),
  evaluate: (_where, work) => work(),
  together: (_where, _cost, work) => work(),
};
