// SPDX-License-Identifier: Apache-2.0
import { ACCOUNT_KEY } from '#api/acme/account-key.ts';
import type { AcmeSigner } from '#api/acme/acme-signer.ts';
import type { Secret } from '#api/object/object.ts';
import { parseTime } from '#api/object/time.ts';
import type { SecretReference } from '#api/signer/cluster-signer.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import { ACTIVATED_AT, NEXT_KEY, ROTATE_AT } from '#api/signer/rotation-annotations.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { SECRETS } from '#kube/resource/core-v1.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { JSON_PATCH, secretPatch } from '../apply/secret-patch.ts';
import type { AccountKeyStep } from './decide.ts';

/** The key type that every ACME server accepts (RFC 8555 §6.2). */
const KEY_TYPE = 'ECDSAP256';
/** Maximum difference between two replicas' view of the API server's time. */
const CLOCK_SKEW_MS = 60_000;

export interface AccountKeyWrite {
  readonly client: Client;
  /** Version of this process, for the Secret's label. */
  readonly version: string;
  readonly signer: AcmeSigner;
  readonly reference: SecretReference;
  /** The Secret as it was when the decision was made. */
  readonly secret: Secret | undefined;
  readonly now: number;
}

/**
 * Applies one step with one write. Creates a Secret but never overwrites one. A patch has the
 * resourceVersion that was read as precondition.
 *
 * @returns the Secret as written, or undefined if another client created it first or there was
 * nothing to write
 * @throws KubeError
 */
export async function writeAccountKey(
  step: AccountKeyStep['kind'],
  init: AccountKeyWrite,
): Promise<Secret | undefined> {
  const { client, version, signer, secret, now } = init;
  if (step === 'make') return createSecret(init, await newKey());
  if (secret === undefined || step === 'none' || step === 'lost') return undefined;
  const labels = { 'app.kubernetes.io/version': version };
  const change = await changeOf(step, signer, secret, now);
  return client.request<Secret>({
    method: 'PATCH',
    path: SECRETS.object(secret.metadata),
    contentType: JSON_PATCH,
    body: secretPatch(secret, { labels, ...change }),
  });
}

async function changeOf(
  step: 'fill' | 'prepare' | 'promote',
  signer: AcmeSigner,
  secret: Secret,
  now: number,
): Promise<Pick<Parameters<typeof secretPatch>[1], 'annotations' | 'data'>> {
  if (step === 'prepare') return { annotations: {}, data: { [NEXT_KEY]: await newKey() } };
  const annotations = { [ACTIVATED_AT]: activatedAt(signer, now) };
  if (step === 'fill') return { annotations, data: { [ACCOUNT_KEY]: await newKey() } };
  const next = Buffer.from(secret.data?.[NEXT_KEY] ?? '', 'base64').toString('latin1');
  return { annotations, data: { [ACCOUNT_KEY]: next, [NEXT_KEY]: null } };
}

/**
 * Returns an activation time that is not before the request. `acme` may have a faster clock and may
 * have found the request due first.
 */
function activatedAt({ metadata }: AcmeSigner, now: number): string {
  const requestedAt = parseTime(metadata.annotations?.[ROTATE_AT] ?? '');
  const isAhead = requestedAt > now && requestedAt - now < CLOCK_SKEW_MS;
  return new Date(isAhead ? requestedAt : now).toISOString();
}

async function newKey(): Promise<string> {
  return (await generatePrivateKey(KEY_TYPE)).pem;
}

async function createSecret(
  { client, version, signer, reference, now }: AccountKeyWrite,
  key: string,
): Promise<Secret | undefined> {
  const body = {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: {
      ...reference,
      labels: {
        'app.kubernetes.io/managed-by': 'countersign',
        'app.kubernetes.io/version': version,
      },
      annotations: {
        [SIGNER_NAME]: signer.spec.signerName,
        [ACTIVATED_AT]: new Date(now).toISOString(),
      },
    },
    // No ownerReference: deleting an AcmeClusterSigner must not delete the key of an account.
    data: { [ACCOUNT_KEY]: Buffer.from(key).toString('base64') },
  };
  try {
    const path = SECRETS.collection(reference.namespace);
    return await client.request<Secret>({ method: 'POST', path, body });
  } catch (error) {
    // Another replica created it, or an earlier call whose response was lost. The watch will show
    // it.
    if (error instanceof KubeError && error.code === 'KUBE_ALREADY_EXISTS') return undefined;
    throw error;
  }
}
