// SPDX-License-Identifier: Apache-2.0
/** The door of the room: what its users import. README.md lists the files behind it. */
export { nextOrderAt } from './back-off.ts';
export { LETS_ENCRYPT, OrderBudgets } from './budgets.ts';
export {
  afterAccepting,
  afterCleanUp,
  afterPresenting,
  afterReading,
  afterScheduling,
  afterSelfCheck,
  NEW_CHALLENGE,
  NO_CHALLENGE_MEMORY,
} from './challenge-events.ts';
export { nextChallengeStep } from './challenge-step.ts';
export {
  afterAccount,
  afterAuthorization,
  afterDownload,
  afterFailedChallenge,
  afterNoSolver,
  afterOrder,
  afterWrongCertificate,
  NEW_ORDER,
} from './order-events.ts';
export { nextOrderStep } from './order-step.ts';
export { afterRevocation, heldRevocation, nextRevocationStep } from './revocation.ts';
export {
  afterRenewalInfo,
  CERTIFICATE_MARKED,
  isOfTheServer,
  MARK_REFUSED,
  nextRenewalStep,
  overdueAt,
  RENEWAL_DUE,
} from './renewal.ts';
export { ChallengeScheduler } from './scheduler.ts';
export { chooseSolver } from './solver-choice.ts';
export { challengeRecordOf, challengeStatusOf } from './status/challenge.ts';
export { orderRecordOf, orderStatusOf } from './status/order.ts';
export { renewalRecordOf, renewalStatusOf } from './status/renewal.ts';
export { revocationRecordOf, revocationStatusOf } from './status/revocation.ts';
