// SPDX-License-Identifier: Apache-2.0
import { usageError } from '#base/errors.ts';
import { PROCESSES } from '#install/component-list.ts';
import type { Context, Issuer } from './issuer.ts';
import type { RequestKindName, SignedCertificate, SigningRequest } from './request.ts';
import * as messages from './messages.ts';

/** Parses `spec.authority`. A zod schema is one, as is any object with such a function. */
export interface Schema<T> {
  /**
   * Parses the value of `spec.authority`.
   *
   * @throws an error about what is invalid. Its message becomes part of the issuer's status
   */
  readonly parse: (value: unknown) => T;
}

/** An author's own kind in the Kubernetes API. {@link crd} prints its definition. */
export interface IssuerKind {
  /** API group: a domain of yours, not under kubernetes.io, k8s.io or countersign.dev. */
  readonly group: string;
  /** API version, such as `v1alpha1`. */
  readonly version: string;
  /** CamelCase, such as `StepIssuer`. */
  readonly kind: string;
  /** Lower case, such as `stepissuers`. It is the first part of derived signer names, too. */
  readonly plural: string;
  /** Whether the kind is namespaced. Its signer names are then always derived. Default: false. */
  readonly namespaced?: boolean;
}

/** Your definition to connect a CA: a kind, a schema, and two functions. */
export interface AuthorityDefinition<Config> {
  /**
   * A DNS label that names the process. Roles are `countersign-<name>`, and Events come from
   * `countersign.dev/<name>`.
   */
  readonly name: string;
  /** The kind of its issuers. */
  readonly issuer: IssuerKind;
  /**
   * Parses `spec.authority` of an issuer. An issuer that it rejects is not ready, with reason
   * InvalidSpec.
   */
  readonly schema: Schema<Config>;
  /**
   * Converts an issuer's own `spec` to the one of docs/reference/library.md. Use it for a kind that
   * already has a CustomResourceDefinition. Default: no conversion. The kind needs the status
   * subresource and `conditions`. An issuer for which it throws is not ready, with reason
   * InvalidSpec.
   */
  readonly issuerSpec?: (spec: unknown) => unknown;
  /**
   * Kinds of requests that it signs. Default: CertificateSigningRequest and PodCertificateRequest.
   * Roles have the permissions for these. CertificateRequest is served after cert-manager is
   * installed.
   */
  readonly requests?: readonly RequestKindName[];
  /**
   * Returns the names of the Secrets that `check` and `sign` may read for an issuer. Default: none.
   */
  readonly secrets?: (config: Config) => readonly string[];
  /**
   * OIDs of extensions that its leaves may have in addition to the usual ones. Usual are those that
   * are compared with the request, authority information access, CRL distribution points,
   * certificate policies, and certificate timestamps. Default: none. Name none that the CA copies
   * from requests: no check compares its value.
   */
  readonly allowedExtensions?: readonly string[];
  /**
   * Checks that the CA can sign for this issuer. It runs for a new issuer, after changes of its
   * spec or annotations, and with backoff until it returns. Throws if the CA cannot sign.
   * docs/reference/library.md has the table of errors.
   */
  readonly check: (issuer: Issuer<Config>, ctx: Context) => Promise<void>;
  /**
   * Signs one request of a ready issuer. Several calls run at once, but only one at a time for a
   * request. A call that exceeds its time counts as ended, so end it when `ctx.signal` aborts. It
   * runs again after an error, and after a crash possibly for a request that is already
   * signed. If a second certificate matters, make it idempotent by `request.uid`.
   */
  readonly sign: (
    request: SigningRequest,
    issuer: Issuer<Config>,
    ctx: Context,
  ) => Promise<SignedCertificate>;
}

/**
 * A checked definition. {@link defineAuthority} returns it, and {@link run}, {@link roles} and
 * {@link crd} accept it.
 */
export interface AuthorityType<Config = unknown> extends Required<AuthorityDefinition<Config>> {
  /** The kind, with its defaults. */
  readonly issuer: Required<IssuerKind>;
}

/** Dotted decimal OID (X.660). */
const OID = /^[0-2](?:\.(?:0|[1-9]\d{0,38}))+$/;
const LABEL = /^[a-z]([-a-z0-9]{0,50}[a-z0-9])?$/;
const GROUP = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;
const VERSION = /^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$/;
const KIND = /^[A-Z][A-Za-z0-9]{0,62}$/;
/** Kubernetes reserves its own domains (api-approved.kubernetes.io). countersign.dev is ours. */
const RESERVED_GROUPS = /(^|\.)(kubernetes\.io|k8s\.io|countersign\.dev)$/;
/**
 * Names of our own processes, and of the command `console`. Two processes of one name would share
 * roles and Leases.
 */
const RESERVED_NAMES: ReadonlySet<string> = new Set([
  ...PROCESSES.map(({ name }) => name),
  'console',
]);

/**
 * Checks a definition and adds its defaults.
 *
 * @returns the definition, frozen
 * @throws SignerError USAGE (`fail`) for an invalid or reserved name, with the field
 */
export function defineAuthority<Config>(
  definition: AuthorityDefinition<Config>,
): AuthorityType<Config> {
  // Authors may pass undefined for an optional field.
  const {
    name,
    issuer,
    requests = ['CertificateSigningRequest', 'PodCertificateRequest'],
    secrets = () => [],
    issuerSpec = (spec: unknown) => spec,
    allowedExtensions = [],
  } = definition;
  require(LABEL.test(name) && !RESERVED_NAMES.has(name), 'name', name);
  require(GROUP.test(issuer.group) &&
    !RESERVED_GROUPS.test(issuer.group), 'issuer.group', issuer.group);
  require(VERSION.test(issuer.version), 'issuer.version', issuer.version);
  require(KIND.test(issuer.kind), 'issuer.kind', issuer.kind);
  require(LABEL.test(issuer.plural), 'issuer.plural', issuer.plural);
  require(requests.length > 0, 'requests', '[]');
  for (const oid of allowedExtensions) require(OID.test(oid), 'allowedExtensions', oid);
  return Object.freeze({
    ...definition,
    secrets,
    issuerSpec,
    allowedExtensions: Object.freeze([...allowedExtensions]),
    requests: Object.freeze([...requests]),
    issuer: Object.freeze({ ...issuer, namespaced: issuer.namespaced ?? false }),
  });
}

function require(isValid: boolean, field: string, value: string): void {
  if (isValid) return;
  throw usageError(messages.invalidDefinition(field, value.slice(0, 80)));
}
