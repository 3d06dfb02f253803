// SPDX-License-Identifier: Apache-2.0
import { SignerError } from '../errors.ts';
import type { Context, Issuer } from './issuer.ts';
import type { RequestKindName, Signed, SigningRequest } from './request.ts';

/** Reads an author's part of a spec. A zod schema is one, as is any object with such a function. */
export interface Schema<T> {
  /** @throws what is wrong, in words for whoever wrote the spec */
  readonly parse: (value: unknown) => T;
}

/** An author's own kind of the Kubernetes API; `crd` prints its definition. */
export interface IssuerKind {
  /** The API group: a domain of the author's, not under kubernetes.io or k8s.io. */
  readonly group: string;
  readonly version: string;
  /** CamelCase. */
  readonly kind: string;
  /** Lower case; also the first part of derived signer names. */
  readonly plural: string;
  /** Whether its objects lie in namespaces; their signer names are always derived. */
  readonly namespaced?: boolean;
}

/** All that somebody who owns a CA has to say of it. */
export interface AuthorityDefinition<Config> {
  /**
   * A DNS label. It names the process: roles are `countersign-<name>`, Events come from
   * `countersign.dev/<name>`.
   */
  readonly name: string;
  readonly issuer: IssuerKind;
  /** Reads `spec.authority` of an issuer. What it refuses is not called for, and said in `status`. */
  readonly schema: Schema<Config>;
  /**
   * Which requests it signs; those of Kubernetes itself if left out. Roles hold the rights for these.
   * For CertificateRequests it is dormant while there is no cert-manager.
   */
  readonly requests?: readonly RequestKindName[];
  /** Names of the Secrets that `check` and `sign` may read for an issuer; none if left out. */
  readonly secrets?: (config: Config) => readonly string[];
  /**
   * Whether the CA can sign for this issuer now. Called when an issuer appears, when its spec or
   * annotations change, and with backoff until it returns. Throws why it cannot.
   */
  readonly check: (issuer: Issuer<Config>, ctx: Context) => Promise<void>;
  /**
   * Signs one request of a ready issuer. Called again after an error, and after a crash perhaps for a
   * request that it signed before: what was returned is not asked for again, what was not, may be.
   * Several calls may run at once, one at a time for a request.
   */
  readonly sign: (request: SigningRequest, issuer: Issuer<Config>, ctx: Context) => Promise<Signed>;
}

/** A checked definition: what {@link defineAuthority} returns and `run`, `roles` and `crd` take. */
export interface AuthorityType<Config = unknown> extends Required<AuthorityDefinition<Config>> {
  readonly issuer: Required<IssuerKind>;
}

const LABEL = /^[a-z]([-a-z0-9]{0,50}[a-z0-9])?$/;
const GROUP = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;
const VERSION = /^v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?$/;
const KIND = /^[A-Z][A-Za-z0-9]{0,62}$/;
/** Kubernetes keeps these for itself (api-approved.kubernetes.io); countersign.dev is ours. */
const RESERVED_GROUPS = /(^|\.)(kubernetes\.io|k8s\.io|countersign\.dev)$/;
/** Our own components: two of one name would take each other's Leases. */
const RESERVED_NAMES: ReadonlySet<string> = new Set([
  'approver',
  'signer',
  'pcr-issuer',
  'attester',
  'authority',
  'certificate-request',
  'acme',
  'operator',
  'pod-refresher',
  'console',
]);

/**
 * Checks a definition and fills in what was left out.
 *
 * @throws SignerError USAGE (`fail`), naming what is wrong
 */
export function defineAuthority<Config>(
  definition: AuthorityDefinition<Config>,
): AuthorityType<Config> {
  const { name, issuer } = definition;
  require(LABEL.test(name) && !RESERVED_NAMES.has(name), 'name', name);
  require(GROUP.test(issuer.group) &&
    !RESERVED_GROUPS.test(issuer.group), 'issuer.group', issuer.group);
  require(VERSION.test(issuer.version), 'issuer.version', issuer.version);
  require(KIND.test(issuer.kind), 'issuer.kind', issuer.kind);
  require(LABEL.test(issuer.plural), 'issuer.plural', issuer.plural);
  const requests = definition.requests ?? ['CertificateSigningRequest', 'PodCertificateRequest'];
  require(requests.length > 0, 'requests', '[]');
  return Object.freeze({
    secrets: () => [],
    ...definition,
    requests: Object.freeze([...requests]),
    issuer: Object.freeze({ namespaced: false, ...issuer }),
  });
}

function require(isRight: boolean, field: string, value: string): void {
  if (isRight) return;
  throw new SignerError({
    code: 'USAGE',
    disposition: 'fail',
    message: `defineAuthority: ${field} may not be "${value.slice(0, 80)}"`,
  });
}
