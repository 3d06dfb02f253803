// SPDX-License-Identifier: Apache-2.0
/** The door of the room: what its users import. README.md lists the files behind it. */
export { ACCOUNT_KEY, accountSecretOf, keyWishesOf } from './account-key.ts';
export { challengeTypeOf, needsSolver, refOfAcmeSigner } from './acme-signer.ts';
export type { AcmeSettings, AcmeSigner, AcmeSignerStatus, AcmeSolver } from './acme-signer.ts';
export { ACME_CLUSTER_SIGNER_SPEC, ACME_SIGNER_SPEC } from './acme-signer-schema.ts';
export {
  CHALLENGE_SPEC,
  CHALLENGE_STATUS,
  isToBePresented,
  readChallengeObject,
} from './challenge.ts';
export type { Challenge, ChallengeObjectStatus, ChallengeSpec, SolverReport } from './challenge.ts';
export type { AcmeSignerRef } from './fields.ts';
export {
  ACME_CLUSTER_SIGNERS,
  ACME_DERIVED_PREFIX,
  ACME_GROUP,
  ACME_SIGNERS,
  ACME_VERSION,
  acmeDerivedName,
  CHALLENGES,
  CLEAN_UP_FINALIZER,
  CREDENTIAL_NAMESPACE,
  EVERY_ACME_DERIVED_NAME,
  ORDER_UID_LABEL,
  ORDERS,
  RENEWAL_MARK_REASON,
  REVOCATION_CODES,
  REVOKE_ANNOTATION,
} from './names.ts';
export type { RevocationReasonName } from './names.ts';
export { ORDER_SPEC, ORDER_STATUS, readOrder } from './order.ts';
export type { Order, OrderObjectStatus, OrderSpec } from './order.ts';
export { readAcmeSigner } from './read-acme-signer.ts';
