// SPDX-License-Identifier: Apache-2.0
/** Exports of the folder. README.md lists the files behind them. */
export { nextOrderAt } from './back-off.ts';
export { LETS_ENCRYPT, OrderBudgets } from './turns/budgets.ts';
export {
  afterAccepting,
  afterCleanUp,
  afterExpiry,
  afterPresenting,
  afterQueueing,
  afterReading,
  afterRelease,
  afterScheduling,
  afterSelfCheck,
  afterYielding,
  NEW_CHALLENGE,
} from './challenge-events.ts';
export { nextChallengeStep } from './challenge-step.ts';
export { NO_CHALLENGE_MEMORY, NO_ORDER_MEMORY } from './memory.ts';
export {
  afterAccount,
  afterAuthorization,
  afterBadRequest,
  afterDownload,
  afterFailedChallenge,
  afterNoSolver,
  afterOrder,
  afterOtherAccount,
  afterWrongCertificate,
  showWaitFor,
} from './order-events.ts';
export { nextOrderStep } from './order-step.ts';
export { afterRevocation, heldRevocation, nextRevocationStep } from './revocation.ts';
export {
  afterRenewalInfo,
  CERTIFICATE_MARKED,
  failuresAfterRenewalInfo,
  MARK_REFUSED,
  nextRenewalStep,
  overdueAt,
  RENEWAL_DUE,
} from './renewal.ts';
export { ChallengeScheduler } from './turns/scheduler.ts';
export { chooseSolver } from './solver-choice.ts';
