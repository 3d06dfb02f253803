// SPDX-License-Identifier: Apache-2.0
import { ACME_GROUP, ORDERS, REVOCATION_CODES, REVOKE_ANNOTATION } from '#api/acme/names.ts';
import { readOrder, type Order } from '#api/acme/order.ts';
import type { KubeObject, Secret } from '#api/object/object.ts';
import type { Pod } from '#api/object/pod.ts';
import {
  CERT_MANAGER_GROUP,
  CERT_MANAGER_VERSION,
  CERTIFICATE_REQUEST_RESOURCE,
} from '#api/request/certificate-request.ts';
import { usageError, type SignerError } from '#base/errors.ts';
import type { Client } from '#kube/client/client.ts';
import { ignoreNotReadable } from '#kube/client/kube-error.ts';
import { PODS, SECRETS } from '#kube/resource/core-v1.ts';
import { resource } from '#kube/resource/resource.ts';
import { listReadable } from '#kube/watch/list-objects.ts';
import { readCertificates } from '#pki/x509/certificate.ts';
import { printable } from '#base/quote.ts';
import { EXIT_REFUSED, type Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { printDocument, printProgress, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';

/** Flags of `countersign revoke`. */
export interface RevokeOptions extends UserOptions {
  readonly namespace: string;
  readonly reason: string;
  readonly force: boolean;
  readonly dryRun: boolean;
  readonly output: Output | 'name';
  /** Signer name, which selects no Order. */
  readonly signer?: string;
}

/** The result that `-o json` and `-o yaml` print. */
export interface OrderRevokeReport {
  readonly outcome: 'requested' | 'refused';
  readonly dryRun: boolean;
  /** Name, such as `order/www-1-1`. */
  readonly object: string;
  readonly namespace: string;
  readonly serial: string;
  readonly reason: string;
  /** Objects that still use the certificate, as far as the user may read them. */
  readonly uses: readonly string[];
}

/** The text of `-o text`, and the same for programs. */
interface RevokedOrder {
  readonly text: string;
  readonly report: OrderRevokeReport;
}

interface CertManagerCertificate extends KubeObject {
  readonly spec?: { readonly secretName?: string };
}

interface Volume {
  readonly secret?: { readonly secretName?: string };
  readonly projected?: {
    readonly sources?: readonly { readonly secret?: { readonly name?: string } }[];
  };
}

type PodWithVolumes = Pick<Pod, 'metadata'> & {
  readonly spec: { readonly volumes?: readonly Volume[] };
};

const ORDER_RESOURCE = resource(ORDERS);
const REQUESTS = resource(CERTIFICATE_REQUEST_RESOURCE);
const CERTIFICATES = resource({
  group: CERT_MANAGER_GROUP,
  version: CERT_MANAGER_VERSION,
  plural: 'certificates',
});

/**
 * Annotates an Order for the revocation of its certificate, and lists what still uses it.
 *
 * @param name - `order/NAME`, or the name
 * @returns the exit code
 * @throws KubeError, or SignerError USAGE
 */
export async function runRevoke(name: string, options: RevokeOptions): Promise<number> {
  const { reason, signer } = options;
  if (!Object.hasOwn(REVOCATION_CODES, reason)) throw unknownReason(reason);
  if (signer !== undefined)
    throw usageError('--signer selects no Order: the Order names its signer; leave --signer out');
  const { client } = await connectUser(options, 'revoke');
  try {
    const revoked = await revokeOrder(client, name, options);
    print(revoked, options.output);
    return revoked.report.outcome === 'refused' ? EXIT_REFUSED : 0;
  } finally {
    await client.close();
  }
}

function unknownReason(reason: string): SignerError {
  const known = Object.keys(REVOCATION_CODES).join(', ');
  return usageError(
    `--reason ${reason} is none that acme sends for an Order; write one of ${known}`,
  );
}

/** Prints the result. With `-o name`, a refusal goes to stderr: stdout has names alone. */
function print({ text, report }: RevokedOrder, output: RevokeOptions['output']): void {
  if (output === 'text') printText(text);
  else if (output !== 'name') printDocument(structuredText(report, output));
  else if (report.outcome === 'requested') {
    printText(`${report.object.replace('order/', `order.${ACME_GROUP}/`)}\n`);
  } else for (const line of text.trimEnd().split('\n')) printProgress(line);
}

/** Returns the result. It prints nothing. */
export async function revokeOrder(
  client: Client,
  name: string,
  {
    namespace,
    reason,
    force,
    dryRun,
  }: Pick<RevokeOptions, 'namespace' | 'reason' | 'force' | 'dryRun'>,
): Promise<RevokedOrder> {
  const own = name.replace(/^orders?\//, '');
  const path = ORDER_RESOURCE.object({ namespace, name: own });
  const order = readOrder(await client.request<KubeObject>({ method: 'GET', path }));
  const { certificate } = order.status;
  if (certificate === undefined) throw usageError(`Order ${namespace}/${own} has no certificate`);
  const [leaf] = readCertificates(certificate);
  const serial = leaf === undefined ? '' : Buffer.from(leaf.serial).toString('hex');
  const uses = await usesOf(client, order);
  const used = uses.map((each) => `${printable(each)}\n`).join('');
  const shared = { dryRun, object: `order/${own}`, namespace, serial, reason, uses };
  if (uses.length > 0 && !force) {
    const advice =
      'Renew it first (cmctl renew), or revoke it all the same with --force. Nothing was written.';
    return {
      text: `The certificate with serial ${serial} is in use:\n${used}${advice}\n`,
      report: { outcome: 'refused', ...shared },
    };
  }
  await client.request({
    method: 'PATCH',
    path,
    query: dryRun ? { dryRun: 'All' } : {},
    contentType: 'application/merge-patch+json',
    body: {
      metadata: {
        resourceVersion: order.metadata.resourceVersion,
        annotations: { [REVOKE_ANNOTATION]: reason },
      },
    },
  });
  const done = dryRun
    ? `The revocation of the certificate with serial ${serial} (${reason}) would be requested (dry run).`
    : `Requested revocation of the certificate with serial ${serial} (${reason}); status.revocation of the Order and an Event show the result.`;
  return { text: `${used}${done}\n`, report: { outcome: 'requested', ...shared } };
}

/** Returns the objects with the certificate, as far as the user may read them. */
async function usesOf(client: Client, order: Order): Promise<readonly string[]> {
  const { namespace = '' } = order.metadata;
  const owner = await certificateOf(client, order);
  const secretName = owner?.spec?.secretName;
  if (owner === undefined || secretName === undefined) return [];
  const secret = await readIfAllowed<Secret>(
    client,
    SECRETS.object({ namespace, name: secretName }),
  );
  // Without permission to read the Secret, assume that it has this certificate.
  if (secret !== undefined && certificateIn(secret) !== order.status.certificate?.trim()) return [];
  const pods = await podsWith(client, namespace, secretName);
  return [
    `Certificate ${namespace}/${owner.metadata.name} has it in Secret ${namespace}/${secretName}`,
    ...pods.map((pod) => `Pod ${namespace}/${pod} mounts Secret ${namespace}/${secretName}`),
  ];
}

/** Returns the Certificate that requested it. */
async function certificateOf(
  client: Client,
  { metadata: { namespace }, spec }: Order,
): Promise<CertManagerCertificate | undefined> {
  const { kind, name } = spec.requestRef;
  if (kind !== 'CertificateRequest') return undefined;
  const request = await readIfAllowed<KubeObject>(client, REQUESTS.object({ namespace, name }));
  const owner = request?.metadata.annotations?.['cert-manager.io/certificate-name'];
  if (owner === undefined) return undefined;
  return readIfAllowed<CertManagerCertificate>(
    client,
    CERTIFICATES.object({ namespace, name: owner }),
  );
}

function certificateIn({ data }: Secret): string {
  return Buffer.from(data?.['tls.crt'] ?? '', 'base64')
    .toString('latin1')
    .trim();
}

async function podsWith(
  client: Client,
  namespace: string,
  secretName: string,
): Promise<readonly string[]> {
  const pods = await listReadable<PodWithVolumes>(client, PODS, {
    namespace,
    keep: ({ spec }) => (spec.volumes ?? []).flatMap(secretNames).includes(secretName),
  });
  return pods.map(({ metadata }) => metadata.name);
}

function secretNames({ secret, projected }: Volume): readonly (string | undefined)[] {
  return [secret?.secretName, ...(projected?.sources ?? []).map((each) => each.secret?.name)];
}

/** Reads an object. Returns undefined if it does not exist, or the user may not read it. */
function readIfAllowed<T>(client: Client, path: string): Promise<T | undefined> {
  return client.request<T>({ method: 'GET', path }).catch(ignoreNotReadable);
}
