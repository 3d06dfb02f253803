// SPDX-License-Identifier: Apache-2.0
/**
 * The public API of the library: connect your own CA. You write `check` and `sign`. Everything else
 * is the code that Countersign's own components run on. `make library-docs` generates
 * docs/reference/library-api.md from these exports.
 */
export { defineAuthority } from './define.ts';
export type { AuthorityDefinition, AuthorityType, IssuerKind, Schema } from './define.ts';
export { IssuerError, PendingError, PermanentError, SetConditionError } from './errors.ts';
export type { ConditionOf, SigningErrorOptions } from './errors.ts';
export type { Context, Issuer, SecretData } from './issuer.ts';
export type {
  LeafTemplate,
  RequestCondition,
  RequestKindName,
  RequestedKey,
  RequestingPod,
  SignedCertificate,
  SigningRequest,
} from './request.ts';
export type { AuthorityList } from './authorities.ts';
export { openCa } from './ca.ts';
export type { Ca, CaMaterial } from './ca.ts';
export { crd, roles } from './manifests.ts';
export type { OpenApiSchema, RoleNames } from './manifests.ts';
export { run } from './run.ts';
export type { RunOptions } from './options.ts';
