// SPDX-License-Identifier: Apache-2.0
import type { ServedKind, SecretReference } from '#api/signer/cluster-signer.ts';
import type { CaBundleTarget } from '#api/object/ca-bundle-target.ts';
import { ACME_DERIVED_PREFIX } from '#api/acme/names.ts';
import { bundleName } from '#api/object/cluster-trust-bundle.ts';
import { checkFederatedDomain } from '#api/object/federated-bundle.ts';
import { checkSignerDomain, checkSignerName } from '#api/signer/signer-name.ts';
import { isDerivedName } from '#api/signer/signer.ts';
import { checkUpstreamIssuer } from '#api/signer/upstream-issuer.ts';
import { usageError } from '#base/errors.ts';
import type { InjectionProfile } from './admission/injection/profiles.ts';
import type { DnsWebhook } from '#component/rbac/permission-names.ts';
import { KUBE_SYSTEM } from './values/check-names.ts';

/** The names of ACME signers, which are not ClusterSigners. */
export interface AcmeNames {
  /** Signer names of AcmeClusterSigners. */
  readonly signers: readonly string[];
  /** Secrets of external accounts, and of account keys that users create. */
  readonly secrets: readonly SecretReference[];
  /** Secrets of account keys of AcmeClusterSigners that `authority` creates. Absent: none. */
  readonly accountKeys?: readonly SecretReference[];
  /** `acme` marks Certificates of cert-manager when their CA wants them renewed. Absent: no. */
  readonly renewCertificates?: boolean;
}

/** The names of ExternalClusterSigners. */
export interface ExternalNames {
  readonly signers: readonly string[];
}

/** The names of the signers that serve one kind of requests. */
export interface ServedNames {
  readonly signers: readonly string[];
  /** The Secrets of their CAs. */
  readonly secrets: readonly SecretReference[];
}

/** The names that the roles and admission policies of one installation list. */
export interface Installation {
  /** Signer names: `example.com/workload`. */
  readonly signers: readonly string[];
  /** Domains whose every signer name the components may serve: `example.com`. */
  readonly signerDomains?: readonly string[];
  /** Object names of ClusterTrustBundles: `example.com:workload:primary`. */
  readonly bundles: readonly string[];
  /** The Secrets of the CAs. */
  readonly secrets: readonly SecretReference[];
  /** Namespace of the CAs if `secrets` names none. Default: the default one. */
  readonly keysNamespace?: string;
  /** The signers that serve each kind of requests. If absent, each signer serves all kinds. */
  readonly served?: Readonly<Record<ServedKind, ServedNames>>;
  /** The components also serve Signers in namespaces. */
  readonly namespacedSigners?: boolean;
  /** `pcr-issuer` reads pods and Services, for signers whose leaves have their names. */
  readonly podServices?: boolean;
  /** `pcr-issuer` and `pod-refresher` read the records of the ledger. */
  readonly ledgerFacts?: boolean;
  /** The API server aggregates the ledger's API (`kubectl get records`). */
  readonly aggregatedApi?: boolean;
  /** `notifier` reads pods, to report certificates that they have not renewed. */
  readonly notifiedPods?: boolean;
  /** The Secrets of Signers, each in its Signer's namespace. */
  readonly signerSecrets?: readonly SecretReference[];
  /** Secrets with DNS credentials, for `acme-solver`. */
  readonly solverSecrets?: readonly SecretReference[];
  /** APIs of DNS webhooks written for cert-manager, for `acme-solver`. */
  readonly dnsWebhooks?: readonly DnsWebhook[];
  /** `key=value` of labels and annotations that the routes of `acme-solver` may have. */
  readonly routeMetadata?: readonly string[];
  /** Components that an installation has only if it names them. */
  readonly optionalComponents?: readonly string[];
  /** Names that the component `acme` serves. Absent: none. */
  readonly acme?: AcmeNames;
  /** Names that the component `external-signer` serves. Absent: none. */
  readonly external?: ExternalNames;
  /** Profiles for annotated pods. Absent: no injection. */
  readonly injection?: readonly InjectionProfile[];
  /** Secrets that `pod-refresher` may read. */
  readonly refreshSecrets?: readonly SecretReference[];
  /** Objects whose `caBundle` `trust-distributor` writes. */
  readonly caBundles?: readonly CaBundleTarget[];
  /** Secrets whose certificates `ledger` monitors. */
  readonly monitoredSecrets?: readonly SecretReference[];
  /** Foreign trust domains, for `federation`. */
  readonly federated?: readonly string[];
  /** Issuers of cert-manager that sign managed CAs: `<namespace>/<Kind>.<group>/<name>`. */
  readonly upstreamIssuers?: readonly string[];
  /** Namespace of the components. */
  readonly namespace: string;
  /** Signer name of the CA that signs the certificates of their ports. */
  readonly servingSigner: string;
}

const NO_ACME: AcmeNames = { signers: [], secrets: [] };
const NO_EXTERNAL: ExternalNames = { signers: [] };

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * Checks the names, which end up in roles and in CEL expressions: a name with a quote could inject
 * CEL.
 *
 * @returns the same installation
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`), with the name and the fix
 */
export function checkInstallation(installation: Installation): Installation {
  const { signers, bundles, namespace, servingSigner } = installation;
  const { namespacedSigners, signerSecrets = [], acme = NO_ACME } = installation;
  const { external = NO_EXTERNAL } = installation;
  const named = [...signers, ...acme.signers, ...external.signers];
  if (named.length === 0 && namespacedSigners !== true) {
    throw usageError(
      'name at least one signer: --signer example.com/workload, or --acme-signer example.com/public',
    );
  }
  for (const signer of [...named, servingSigner]) requireChosen(signer);
  requireOthers([...acme.signers, ...external.signers], servingSigner);
  if (signerSecrets.length > 0 && namespacedSigners !== true) {
    throw usageError('--signer-secret is for Signers in namespaces; add --namespaced-signers');
  }
  for (const bundle of bundles) requireBundle(bundle, signers);
  requireNamed(installation);
  requireTexts(installation);
  requireLeafSecrets(installation);
  requireName(LABEL, 'namespace', namespace);
  return installation;
}

function requireNamed(installation: Installation): void {
  const { secrets, signerSecrets = [], solverSecrets = [], namespace } = installation;
  const { acme = NO_ACME } = installation;
  const ofAccounts = [...acme.secrets, ...(acme.accountKeys ?? [])];
  for (const secret of [...secrets, ...signerSecrets, ...solverSecrets, ...ofAccounts])
    requireSecret(secret, namespace);
  requireKeyNamespaces(installation);
  requireAccountKeys(installation);
  requireNoCa(installation);
  requireDomains(installation);
  for (const webhook of installation.dnsWebhooks ?? []) requireProvider(webhook);
  for (const domain of installation.federated ?? []) checkFederatedDomain(domain);
}

function requireDomains({ signers, signerDomains = [] }: Installation): void {
  for (const domain of signerDomains) checkSignerDomain(domain, signers);
}

/** Checks texts besides names that end up in CEL. */
function requireTexts({
  injection = [],
  routeMetadata = [],
  upstreamIssuers = [],
}: Installation): void {
  for (const issuer of upstreamIssuers) checkUpstreamIssuer(issuer);
  for (const entry of routeMetadata) requireRouteMetadata(entry);
  for (const { name, signerName } of injection) {
    requireName(LABEL, 'profile', name);
    checkSignerName(signerName);
  }
}

function requireChosen(signerName: string): void {
  checkSignerName(signerName);
  if (!isDerivedName(signerName)) return;
  throw usageError(
    `${signerName} is the derived name of a namespaced Signer; write --namespaced-signers instead`,
  );
}

/**
 * Rejects signers of other CAs with the name of the components' own CA, and with names of
 * AcmeSigners.
 */
function requireOthers(signers: readonly string[], servingSigner: string): void {
  for (const name of signers) {
    if (name === servingSigner) throw usageError(`${name} is always served; leave it out`);
    if (!name.startsWith(ACME_DERIVED_PREFIX)) continue;
    throw usageError(
      `${name} is the derived name of an AcmeSigner; write --namespaced-signers instead`,
    );
  }
}

function requireBundle(bundle: string, signers: readonly string[]): void {
  const prefix = signers
    .map((each) => bundleName(each, ''))
    .find((each) => bundle.startsWith(each));
  if (prefix === undefined || !SUBDOMAIN.test(bundle.slice(prefix.length))) {
    throw usageError(
      `bundle "${bundle.slice(0, 80)}" does not belong to one of these signers; write ${bundleName(signers[0] ?? '', 'primary')}`,
    );
  }
}

function requireSecret({ namespace, name }: SecretReference, components: string): void {
  requireName(LABEL, 'namespace', namespace);
  requireName(SUBDOMAIN, 'Secret', name);
  if (namespace === components) {
    throw usageError(
      `Secret ${namespace}/${name} is in the namespace of the components; put CA keys into a namespace of their own: a user who may create Secrets beside ServiceAccounts can mint their tokens`,
    );
  }
}

/** Rejects keys in the namespace of Kubernetes: `authority` creates Secrets beside them. */
function requireKeyNamespaces({ secrets, acme = NO_ACME }: Installation): void {
  const keys = [...secrets, ...(acme.accountKeys ?? [])];
  const found = keys.find(({ namespace }) => namespace === KUBE_SYSTEM);
  if (found === undefined) return;
  throw usageError(
    `Secret ${found.namespace}/${found.name} is in the namespace of Kubernetes itself; put keys into a namespace of their own: a user who may create Secrets beside ServiceAccounts can mint their tokens`,
  );
}

/**
 * Rejects an account key with the name of a CA Secret. `authority` has the keys of one namespace,
 * and a Secret has one purpose.
 */
function requireAccountKeys({ secrets, acme = NO_ACME }: Installation): void {
  for (const { namespace, name } of acme.accountKeys ?? []) {
    const isCa = secrets.some((each) => each.namespace === namespace && each.name === name);
    if (!isCa) continue;
    throw usageError(
      `Secret ${namespace}/${name} is that of a CA and of an ACME account; write another name into --acme-account-key`,
    );
  }
}

/** Rejects CA Secrets: `acme` and `acme-solver` never read a CA's key. */
function requireNoCa({
  secrets,
  signerSecrets = [],
  solverSecrets = [],
  acme = NO_ACME,
}: Installation): void {
  const ofCas = [...secrets, ...signerSecrets];
  for (const { namespace, name } of [...solverSecrets, ...acme.secrets]) {
    const isCa = ofCas.some((each) => each.namespace === namespace && each.name === name);
    if (!isCa) continue;
    throw usageError(`Secret ${namespace}/${name} is that of a CA; name another for ACME`);
  }
}

/** Groups in which `create` permits more than a call to a DNS provider. */
const NO_PROVIDER = /(?:^|\.)(?:k8s\.io|kubernetes\.io|countersign\.dev|cert-manager\.io)$/;

/** Reports whether an API group can belong to a DNS provider. */
export function isProvider(group: string): boolean {
  return SUBDOMAIN.test(group) && group.includes('.') && !NO_PROVIDER.test(group);
}

const ROUTE_METADATA =
  /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?=[A-Za-z0-9_.:/=,*+@-]{0,1000}$/;

/**
 * Reports whether a text is `key=value` of a label or annotation, without characters that are
 * special in CEL or YAML.
 */
export function isRouteMetadata(text: string): boolean {
  return ROUTE_METADATA.test(text);
}

function requireRouteMetadata(entry: string): void {
  if (isRouteMetadata(entry)) return;
  throw usageError(
    `"${entry.slice(0, 80)}" is not a label or annotation of a route; write example.com/key=value, with letters, digits and _.:/=,*+@- in the value`,
  );
}

function requireProvider({ group, solver }: DnsWebhook): void {
  requireName(SUBDOMAIN, 'DNS provider', group);
  if (!isProvider(group)) {
    throw usageError(
      `"${group.slice(0, 80)}" is not the API group of a DNS provider; write the groupName that its documentation names`,
    );
  }
  if (solver !== undefined) requireName(LABEL, 'solver', solver);
}

/** Rejects CA Secrets: `pod-refresher` and `ledger` never read a CA's key. */
function requireLeafSecrets(installation: Installation): void {
  const { refreshSecrets = [], monitoredSecrets = [] } = installation;
  const { secrets, signerSecrets = [] } = installation;
  const named = [
    ...refreshSecrets.map((secret) => ({ ...secret, flag: '--refresh-secret' })),
    ...monitoredSecrets.map((secret) => ({ ...secret, flag: '--monitored-secret' })),
  ];
  for (const { namespace, name, flag } of named) {
    requireSecret({ namespace, name }, installation.namespace);
    const isKeys = secrets.some((each) => each.namespace === namespace);
    const isCa = signerSecrets.some((each) => each.namespace === namespace && each.name === name);
    if (!isKeys && !isCa) continue;
    throw usageError(
      `${flag} ${namespace}/${name} is a Secret of CAs; name a Secret that cert-manager writes for a workload`,
    );
  }
}

function requireName(pattern: RegExp, kind: string, name: string): void {
  if (!pattern.test(name))
    throw usageError(`"${name.slice(0, 80)}" is not a valid name of a ${kind}`);
}
