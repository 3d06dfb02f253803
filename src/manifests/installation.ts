// SPDX-License-Identifier: Apache-2.0
import type { SecretReference } from '../api/signer/cluster-signer.ts';
import type { CaBundleTarget } from '../api/object/ca-bundle-target.ts';
import { bundleName } from '../api/object/cluster-trust-bundle.ts';
import { checkFederatedDomain } from '../api/object/federated-bundle.ts';
import { checkSignerName } from '../api/signer/signer-name.ts';
import { isDerivedName } from '../api/signer/signer.ts';
import { usageError } from '../errors.ts';
import type { InjectionProfile } from './admission/injection/profiles.ts';
import type { DnsWebhook } from '../runtime/rbac/permission-names.ts';

/** The names of ACME signers, which are no ClusterSigners. */
export interface AcmeNames {
  /** Signer names of AcmeClusterSigners. */
  readonly signers: readonly string[];
  /** Secrets of external accounts, and of account keys that people make. */
  readonly secrets: readonly SecretReference[];
  /** Secrets of account keys of AcmeClusterSigners that `authority` makes; absent: none. */
  readonly accountKeys?: readonly SecretReference[];
  /** Whether Certificates of cert-manager are marked when their CA wants them renewed; absent: no. */
  readonly renewCertificates?: boolean;
}

/** The names that the roles and admission policies of one installation spell out. */
export interface Installation {
  /** Signer names: `example.com/workload`. */
  readonly signers: readonly string[];
  /** Object names of ClusterTrustBundles: `example.com:workload:primary`. */
  readonly bundles: readonly string[];
  /** The Secrets of the CAs. */
  readonly secrets: readonly SecretReference[];
  /** Whether Signers in namespaces are served too. */
  readonly namespacedSigners?: boolean;
  /** Whether `pcr-issuer` reads pods and Services, for signers whose leaves have their names. */
  readonly podServices?: boolean;
  /** Whether `pcr-issuer` and `pod-refresher` read the records of the ledger. */
  readonly ledgerFacts?: boolean;
  /** Whether `notifier` reads pods, to tell of certificates that they have not renewed. */
  readonly notifiedPods?: boolean;
  /** The Secrets of Signers, each in its Signer's namespace. */
  readonly signerSecrets?: readonly SecretReference[];
  /** Secrets with credentials of DNS, for `acme-solver`. */
  readonly solverSecrets?: readonly SecretReference[];
  /** APIs of DNS providers that were written for cert-manager, for `acme-solver`. */
  readonly dnsWebhooks?: readonly DnsWebhook[];
  /** Components that an installation has only where it names them. */
  readonly optionalComponents?: readonly string[];
  /** What the component `acme` serves; absent: nothing. */
  readonly acme?: AcmeNames;
  /** What annotated pods are given; absent: nothing is injected. */
  readonly injection?: readonly InjectionProfile[];
  /** Secrets that `pod-refresher` may read. */
  readonly refreshSecrets?: readonly SecretReference[];
  /** Objects into whose `caBundle` `trust-distributor` writes. */
  readonly caBundles?: readonly CaBundleTarget[];
  /** Secrets whose certificates `ledger` looks at. */
  readonly monitoredSecrets?: readonly SecretReference[];
  /** Foreign trust domains, for `federation`. */
  readonly federated?: readonly string[];
  /** Namespace of the components. */
  readonly namespace: string;
  /** Signer name of the CA that signs the certificates of their ports. */
  readonly servingSigner: string;
}

const NO_ACME: AcmeNames = { signers: [], secrets: [] };

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * Checks the names, which end up in roles and in CEL expressions: a name with a quote could inject CEL.
 *
 * @returns the same installation
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`), with the name and what to write
 */
export function checkInstallation(installation: Installation): Installation {
  const { signers, bundles, namespace, servingSigner } = installation;
  const { namespacedSigners, signerSecrets = [], acme = NO_ACME } = installation;
  if (signers.length + acme.signers.length === 0 && namespacedSigners !== true) {
    throw usageError(
      'name at least one signer: --signer example.com/workload, or --acme-signer example.com/public',
    );
  }
  for (const signer of [...signers, ...acme.signers, servingSigner]) requireChosen(signer);
  if (signerSecrets.length > 0 && namespacedSigners !== true) {
    throw usageError('--signer-secret is for Signers in namespaces; add --namespaced-signers');
  }
  for (const bundle of bundles) requireBundle(bundle, signers);
  requireNamed(installation);
  requireProfiles(installation);
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
  requireAccountKeys(installation);
  for (const webhook of installation.dnsWebhooks ?? []) requireProvider(webhook);
  for (const domain of installation.federated ?? []) checkFederatedDomain(domain);
}

function requireProfiles({ injection = [] }: Installation): void {
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

/** `authority` has the keys of one namespace, and a Secret of it is one thing. */
function requireAccountKeys({ secrets, acme = NO_ACME }: Installation): void {
  for (const { namespace, name } of acme.accountKeys ?? []) {
    const isCa = secrets.some((each) => each.namespace === namespace && each.name === name);
    if (!isCa) continue;
    throw usageError(
      `Secret ${namespace}/${name} is that of a CA and of an ACME account; write another name into --acme-account-key`,
    );
  }
}

/** Groups in which to create anything is more than to ask a DNS provider. */
const NO_PROVIDER = /(?:^|\.)(?:k8s\.io|kubernetes\.io|countersign\.dev|cert-manager\.io)$/;

/** Whether an API group can be that of a DNS provider. */
export function isProvider(group: string): boolean {
  return SUBDOMAIN.test(group) && group.includes('.') && !NO_PROVIDER.test(group);
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

/** `pod-refresher` and `ledger` never read a CA's key. */
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
