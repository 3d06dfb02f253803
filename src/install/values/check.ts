// SPDX-License-Identifier: Apache-2.0
/**
 * Checks that a JSON schema cannot express. The chart's templates reject the same values with the
 * same messages (build/chart/checks.tpl), and test/helm compares the two.
 */
import { usageError } from '#base/errors.ts';
import { SERVED_KINDS, type ServedKind } from '#api/signer/cluster-signer.ts';
import { OWN_TLS_CA_SECRET } from '#api/signer/own-tls.ts';
import { checkSignerDomain } from '#api/signer/signer-name.ts';
import { checkAcme, servesAcme } from './check-acme.ts';
import { checkExternal, servesExternal } from './external.ts';
import { checkFederation } from './federation.ts';
import { checkNamespace, checkServedName, isObjectName, KUBE_SYSTEM } from './check-names.ts';
import { checkKeyHolders } from './check-key-holder.ts';
import { checkLedger } from './ledger.ts';
import { checkQuantities } from './check-resources.ts';
import type { InstallationValues } from './schema.ts';

/** A signer of the values with its defaults. */
export interface NamedSigner {
  readonly name: string;
  /** Name of the bundle, empty for none. */
  readonly bundle: string;
  /** Name of the Secret of its CA, empty if its key is in a key holder. */
  readonly secret: string;
  /** True if the key of its CA is in a key holder. */
  readonly isHeld: boolean;
  readonly serves: readonly ServedKind[];
}

/** Returns a signer with the defaults of its name: `workload-ca` for `example.com/workload`. */
export function namedSigner(given: InstallationValues['signers'][number]): NamedSigner {
  const path = given.name.split('/')[1] ?? '';
  return {
    name: given.name,
    bundle: given.bundle ?? 'primary',
    secret: given.secret ?? (given.keyHolder === true ? '' : `${path}-ca`),
    isHeld: given.keyHolder === true,
    serves: given.serves ?? SERVED_KINDS,
  };
}

/**
 * Rejects values that would make the roles unsafe.
 *
 * @param namespace - of the components
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`), with the value and the fix
 */
export function checkValues(values: InstallationValues, namespace: string): void {
  const { signers, namespacedSigners, keysNamespace, image } = values;
  if (/[:@][^/]*$/.test(image.repository)) {
    throw usageError(
      `image.repository: "${image.repository}" has a tag or a digest; write it into image.tag or image.digest`,
    );
  }
  const servesOthers = servesAcme(values) || servesExternal(values);
  if (signers.length === 0 && !namespacedSigners.enabled && !servesOthers) {
    throw usageError(
      "signers: it is empty; name at least one, as in --set 'signers[0].name=example.com/workload', or for ACME alone set components.acme.enabled=true and name one in acme.signers",
    );
  }
  checkNamespace('namespace', namespace);
  checkNamespace('keysNamespace', keysNamespace);
  if (keysNamespace === namespace) {
    throw usageError(
      `keysNamespace: "${keysNamespace}" is the namespace of the components; write another one: a user who may create Secrets beside ServiceAccounts can mint their tokens`,
    );
  }
  if (keysNamespace === KUBE_SYSTEM) {
    throw usageError(
      `keysNamespace: "${keysNamespace}" is for Kubernetes itself; write another one: a user who may create Secrets beside ServiceAccounts can mint their tokens`,
    );
  }
  const named = signers.map(namedSigner);
  for (const [index, signer] of named.entries()) checkSigner(signer, index, named, keysNamespace);
  const names = named.map(({ name }) => name);
  for (const domain of values.signerDomains) checkSignerDomain(domain, names);
  checkKeyHolders(values, named);
  checkTeams(namespacedSigners, [namespace, keysNamespace]);
  checkAcme(values, named, [namespace, keysNamespace]);
  checkLedger(values, namespace, [namespace, keysNamespace, KUBE_SYSTEM]);
  checkFederation(values.federation);
  checkUpstreams(values, [namespace, keysNamespace, KUBE_SYSTEM]);
  checkVaults('upstreamVaults', values.upstreamVaults);
  checkExternal(values, names);
  checkVaults('external.vaults', values.external.vaults);
  checkQuantities(values);
  checkPeers(values);
}

/** Rejects a policy without peers, which by Kubernetes lets every peer in. */
function checkPeers({ networkPolicy: { enabled, from } }: InstallationValues): void {
  if (!enabled || from.length > 0) return;
  throw usageError(
    'networkPolicy.from: it is empty, which would admit every peer; name at least one, or write namespaceSelector: {} to admit all pods',
  );
}

function checkVaults(list: string, servers: readonly string[]): void {
  const index = servers.findIndex((each, at) => servers.indexOf(each) < at);
  if (index < 0) return;
  throw usageError(
    `${list}[${index}]: "${servers[index] ?? ''}" is listed twice; leave one of them out`,
  );
}

/**
 * Rejects namespaces that another Role of `authority` is in, or that have no place for requests of
 * certificates.
 */
function checkUpstreams(
  { upstreamIssuers, namespacedSigners }: InstallationValues,
  notThere: readonly string[],
): void {
  const ofTeams = namespacedSigners.secrets.map(({ namespace }) => namespace);
  for (const [index, issuer] of upstreamIssuers.entries()) {
    const at = `upstreamIssuers[${index}]`;
    const namespace = issuer.slice(0, issuer.indexOf('/'));
    checkNamespace(at, namespace);
    if ([...notThere, ...ofTeams].includes(namespace)) {
      throw usageError(
        `${at}: "${namespace}" is for the components, the keys of CAs, a Signer, or Kubernetes itself; write another namespace for the requests`,
      );
    }
  }
}

function checkSigner(
  { name, bundle, secret, isHeld }: NamedSigner,
  index: number,
  all: readonly NamedSigner[],
  keysNamespace: string,
): void {
  const at = `signers[${index}]`;
  checkServedName(`${at}.name`, name);
  const before = all.slice(0, index);
  if (before.some((each) => each.name === name)) {
    throw usageError(`${at}.name: "${name}" is named twice; leave one of them out`);
  }
  if (bundle !== '' && !isObjectName(bundle)) {
    throw usageError(`${at}.bundle: "${bundle}" is not a valid name; write one such as primary`);
  }
  if (!isHeld) checkSecret(secret, at, before, keysNamespace);
}

function checkSecret(
  secret: string,
  at: string,
  before: readonly NamedSigner[],
  keysNamespace: string,
): void {
  if (secret.includes('/')) {
    throw usageError(
      `${at}.secret: "${secret}" names a namespace; write the name alone: all CA Secrets are in keysNamespace, ${keysNamespace}`,
    );
  }
  if (!isObjectName(secret)) {
    throw usageError(
      `${at}.secret: "${secret}" is not a valid name of a Secret; write one such as workload-ca`,
    );
  }
  if (secret === OWN_TLS_CA_SECRET) {
    throw usageError(
      `${at}.secret: "${secret}" is that of the components' own CA; write another name`,
    );
  }
  const other = before.findIndex((each) => each.secret === secret);
  if (other >= 0) {
    throw usageError(
      `${at}.secret: "${secret}" is also that of signers[${other}], and a CA serves one signer; write another name into ${at}.secret`,
    );
  }
}

function checkTeams(
  { enabled, secrets }: InstallationValues['namespacedSigners'],
  notThere: readonly string[],
): void {
  if (secrets.length > 0 && !enabled) {
    throw usageError(
      'namespacedSigners.secrets: they are for Signers; set namespacedSigners.enabled=true as well',
    );
  }
  for (const [index, { namespace, name }] of secrets.entries()) {
    const at = `namespacedSigners.secrets[${index}]`;
    checkNamespace(`${at}.namespace`, namespace);
    if (notThere.includes(namespace)) {
      throw usageError(
        `${at}.namespace: no Signer is in "${namespace}"; write the namespace of the team`,
      );
    }
    if (!isObjectName(name)) {
      throw usageError(
        `${at}.name: "${name}" is not a valid name of a Secret; write one such as team-ca`,
      );
    }
  }
}
