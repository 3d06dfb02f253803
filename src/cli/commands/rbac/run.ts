// SPDX-License-Identifier: Apache-2.0
import { readCaBundleTarget } from '#api/object/ca-bundle-target.ts';
import { keyOf } from '#api/object/object.ts';
import type { Client } from '#kube/client/client.ts';
import type { Installation } from '#install/installation.ts';
import { printProgress, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { ClusterNames } from '#install/installation-names.ts';
import { clusterNames, lostSigners } from './cluster-names.ts';
import { namesByKind, readNamedKinds, type NamedKinds } from './named-kinds.ts';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { byServedKind, type SecretReference } from '#api/signer/cluster-signer.ts';
import { everySignerOf } from '#base/authorizing-names.ts';
import { SignerError, messageOf, usageError } from '#base/errors.ts';
import type { CertManagerOperatorFlags } from '#install/cert-manager-operator/flags.ts';
import type { OperatorFlags } from '#install/operator/flags.ts';
import { VERSION } from '#app/version.ts';
import { certManagerOperatorManifests } from '#install/cert-manager-operator/installed.ts';
import { profileOf } from '#install/admission/injection/profiles.ts';
import type { Manifest } from '#install/roles.ts';
import { operatorManifests } from '#install/operator/installed.ts';
import { readCountersign } from '../operator/countersign-file.ts';
import {
  OPT_IN,
  renderAdmission,
  renderManifests,
  renderRbac,
  type Files,
} from '#install/render.ts';

/** Flags of `countersign rbac`. */
export interface RbacOptions extends OperatorFlags, CertManagerOperatorFlags {
  readonly signer: readonly string[];
  readonly signerDomain: readonly string[];
  readonly bundle: readonly string[];
  readonly secret: readonly string[];
  readonly namespacedSigners: boolean;
  readonly podServices: boolean;
  readonly ledgerFacts: boolean;
  readonly aggregatedApi: boolean;
  readonly signerSecret: readonly string[];
  readonly solverSecret: readonly string[];
  readonly dnsWebhook: readonly string[];
  readonly routeMetadata: readonly string[];
  readonly federatedTrustDomain: readonly string[];
  readonly acmeSigner: readonly string[];
  readonly externalSigner: readonly string[];
  readonly acmeSecret: readonly string[];
  readonly acmeAccountKey: readonly string[];
  readonly acmeRenewCertificates: boolean;
  readonly refreshSecret: readonly string[];
  readonly inject: readonly string[];
  readonly monitoredSecret: readonly string[];
  readonly upstreamIssuer: readonly string[];
  readonly caBundleOf: readonly string[];
  readonly with: readonly string[];
  readonly namespace: string;
  readonly servingSigner: string;
  readonly output?: string;
  readonly operator?: string;
  readonly certManagerOperator: boolean;
  readonly certManagerOperatorNamespace: string;
  readonly whoMayRequest: boolean;
  readonly fromCluster: boolean;
  readonly secretNamespace: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Timeout for the comparison with the cluster. */
const COMPARE_MS = 3_000;

/**
 * Prints roles, bindings and admission policies, or writes them to `<output>/<component>.yaml` and
 * `<output>/admission/<policy>.yaml`. Users can apply the output unchanged, so the policy that
 * removes permissions needs `--who-may-request`.
 *
 * @throws SignerError USAGE or SIGNER_NAME_INVALID (`fail`) for an invalid name
 */
export async function writeRbac(options: RbacOptions): Promise<void> {
  const { output } = options;
  if (options.operator !== undefined) {
    await writeOperator(options.operator, options);
    return;
  }
  if (options.certManagerOperator) {
    await writeManifests('cert-manager-operator.yaml', certManagerOperator(options), output);
    return;
  }
  const installation = await installationOf(options);
  const roles = renderRbac(installation);
  const policies = renderAdmission(installation);
  const domains = options.signerDomain.map(everySignerOf);
  await warnOfLost(options, [...installation.signers, installation.servingSigner, ...domains]);
  if (output === undefined) {
    const wanted = [...policies].filter(([file]) => options.whoMayRequest || file !== OPT_IN);
    const texts = [...roles.values(), ...wanted.map(([, text]) => text)];
    printText(texts.join('---\n'));
    return;
  }
  await writeAll(output, roles);
  await writeAll(join(output, 'admission'), policies);
}

/** Prints the manifests that an administrator applies before the Countersign in `file`. */
async function writeOperator(file: string, options: RbacOptions): Promise<void> {
  const { spec } = await readCountersign(file);
  const manifests = operatorManifests(spec, {
    namespace: options.namespace,
    keysNamespace: options.secretNamespace,
    image: options.image,
    allowedImages: options.allowImage,
    dangerZone: options.allowDangerZone,
    version: VERSION,
  });
  await writeManifests('operator.yaml', manifests, options.output);
}

/**
 * Returns the manifests that an administrator applies before a CertManagerDeployment.
 *
 * @throws SignerError USAGE (`fail`)
 */
function certManagerOperator(options: RbacOptions): readonly Manifest[] {
  const { namespace: components, secretNamespace: keys } = options;
  const { certManagerOperatorNamespace: namespace } = options;
  if ([components, keys, 'cert-manager', 'kube-system', 'default'].includes(namespace)) {
    const message = `--cert-manager-operator-namespace ${namespace}: its token reads every Secret, and users who may create pods there can use it; name a namespace for it alone`;
    throw usageError(message);
  }
  return certManagerOperatorManifests({
    namespace,
    image: options.image,
    version: VERSION,
    moreReleases: options.allowRelease,
    dangerZone: options.allowDangerZone,
  });
}

async function writeManifests(
  file: string,
  manifests: readonly Manifest[],
  output: string | undefined,
): Promise<void> {
  const text = renderManifests(manifests);
  if (output === undefined) printText(text);
  else await writeAll(output, new Map([[file, text]]));
}

/** Returns profiles with a name and a signer only. The chart's values have the other fields. */
function injectionOf(given: readonly string[]): Pick<Installation, 'injection'> {
  if (given.length === 0) return {};
  const profiles = given.map((text) => {
    const [name = '', signerName = ''] = text.split('=', 2);
    return profileOf({ name, signerName });
  });
  return { injection: profiles };
}

async function installationOf(options: RbacOptions): Promise<Installation> {
  const { namespace, servingSigner, namespacedSigners } = options;
  const found = options.fromCluster ? await namesInCluster(options) : undefined;
  const union = (a: readonly string[], b: readonly string[] = []): readonly string[] => [
    ...new Set([...a, ...b]),
  ];
  return {
    ...servedOf(options, found),
    signerDomains: union(options.signerDomain),
    podServices: options.podServices || found?.podServices === true,
    ledgerFacts: options.ledgerFacts,
    aggregatedApi: options.aggregatedApi,
    bundles: union(options.bundle, found?.bundles),
    solverSecrets: options.solverSecret.map((text) => secretOf('--solver-secret', text)),
    dnsWebhooks: options.dnsWebhook.map((text) => {
      const [group = '', solver] = text.split('/', 2);
      return { group, solver };
    }),
    routeMetadata: options.routeMetadata,
    signerSecrets: options.signerSecret.map((text) => secretOf('--signer-secret', text)),
    ...injectionOf(options.inject),
    refreshSecrets: options.refreshSecret.map((text) => secretOf('--refresh-secret', text)),
    monitoredSecrets: options.monitoredSecret.map((text) => secretOf('--monitored-secret', text)),
    upstreamIssuers: union(options.upstreamIssuer, found?.upstreamIssuers),
    federated: options.federatedTrustDomain,
    caBundles: options.caBundleOf.map(readCaBundleTarget),
    namespace,
    servingSigner,
    namespacedSigners,
    ...optionalOf(options),
  };
}

/**
 * Returns signers and CA Secrets of the flags and of the cluster, and the kinds of requests for
 * which roles name them.
 */
function servedOf(
  { signer, secret }: RbacOptions,
  found: ClusterNames | undefined,
): Pick<Installation, 'signers' | 'secrets' | 'served'> {
  const signers = signer.map((text) => readNamedKinds('--signer', text));
  const secrets = secret.map((text) => readNamedKinds('--secret', text));
  const signersOf = namesByKind(signers, (kind) => found?.served[kind].signers ?? []);
  const secretsOf = namesByKind(secrets, (kind) => found?.served[kind].secrets.map(keyOf) ?? []);
  const references = (names: readonly string[]): readonly SecretReference[] =>
    names.map((text) => secretOf('--secret', text));
  const allOf = (given: readonly NamedKinds[], others: readonly string[]): readonly string[] => [
    ...new Set([...given.map(({ name }) => name), ...others]),
  ];
  return {
    signers: allOf(signers, found?.signers ?? []),
    secrets: references(allOf(secrets, found?.secrets.map(keyOf) ?? [])),
    served: byServedKind((kind) => ({
      signers: signersOf[kind],
      secrets: references(secretsOf[kind]),
    })),
  };
}

/** Returns the names of signers of other kinds, and the components that serve them. */
function optionalOf(
  options: RbacOptions,
): Pick<Installation, 'acme' | 'external' | 'optionalComponents'> {
  const of = acmeOf(options);
  const { externalSigner: signers } = options;
  if (signers.length === 0) return of;
  const { optionalComponents = [] } = of;
  return {
    ...of,
    external: { signers },
    optionalComponents: [...new Set([...optionalComponents, 'external-signer'])],
  };
}

/**
 * Returns the names of ACME signers, for their component and for components that leave their
 * requests to it.
 */
function acmeOf({
  acmeSigner,
  acmeSecret,
  acmeAccountKey,
  acmeRenewCertificates: renewCertificates,
  with: named,
}: RbacOptions): Pick<Installation, 'acme' | 'optionalComponents'> {
  if (acmeSigner.length + acmeSecret.length + acmeAccountKey.length === 0)
    return { optionalComponents: named };
  const secrets = acmeSecret.map((text) => secretOf('--acme-secret', text));
  const accountKeys = acmeAccountKey.map((text) => secretOf('--acme-account-key', text));
  return {
    acme: { signers: acmeSigner, secrets, accountKeys, renewCertificates },
    optionalComponents: [...new Set([...named, 'acme'])],
  };
}

/** Prints the names from the cluster on stderr, because the roles grant them. */
async function namesInCluster(options: RbacOptions): Promise<ClusterNames> {
  const found = await withClient(options, (client) => clusterNames(client, options));
  const secrets = found.secrets.map(keyOf);
  printProgress(`from the cluster: ${[...found.signers, ...found.bundles, ...secrets].join(', ')}`);
  for (const each of found.leftOut) printProgress(`left out: ClusterSigner ${each}`);
  return found;
}

/** Warns of signers that lose their roles once the output is applied. It never throws. */
async function warnOfLost(options: RbacOptions, printed: readonly string[]): Promise<void> {
  try {
    const signal = AbortSignal.timeout(COMPARE_MS);
    const lost = await withClient(options, (client) => lostSigners(client, printed, signal));
    if (lost.length === 0) return;
    const flags = lost.map(flagOf).join(' ');
    printProgress(
      `warning: the roles in the cluster also have ${lost.join(', ')}; once this is applied, no component serves them: add ${flags} with their bundles and Secrets, or --from-cluster`,
    );
  } catch (error) {
    // Without a kubeconfig, the command has no cluster to compare with.
    if (error instanceof SignerError && error.code === 'KUBE_CONFIG') return;
    printProgress(`not compared with the roles in the cluster: ${messageOf(error)}`);
  }
}

/** Returns the flag for a name in a role: a signer, or all of a domain. */
function flagOf(name: string): string {
  return name.endsWith('/*') ? `--signer-domain ${name.slice(0, -2)}` : `--signer ${name}`;
}

async function withClient<T>(
  options: RbacOptions,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const { client } = await connectUser({ ...options, asGroup: [] }, 'rbac');
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

function secretOf(flag: string, text: string): SecretReference {
  const [namespace = '', name = '', ...rest] = text.split('/');
  if (rest.length > 0 || namespace === '' || name === '') {
    throw usageError(`${flag} "${text.slice(0, 80)}" must be <namespace>/<name>`);
  }
  return { namespace, name };
}

async function writeAll(directory: string, files: Files): Promise<void> {
  for (const [name, text] of files) {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}
