// SPDX-License-Identifier: Apache-2.0
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { MAX_HUB_TOKEN_SECONDS } from '#api/signer/upstream-hub.ts';
import { checkSignerName } from '#api/signer/signer-name.ts';
import { SignerError, usageError } from '#base/errors.ts';
import { shellWord } from '#base/quote.ts';
import { membersOf } from '#base/record.ts';
import type { Client } from '#kube/client/client.ts';
import type { Connection } from '#kube/client/connection.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { NAMESPACES, SERVICE_ACCOUNTS } from '#kube/resource/core-v1.ts';
import type { Manifest } from '#install/roles.ts';
import { documentsOf } from '#install/documents.ts';
import { fleetObjects } from '#install/fleet/member-policies.ts';
import { memberDefinition } from '#install/fleet/member-definition.ts';
import { memberObject, memberObjects, type Member } from '#install/fleet/member-objects.ts';
import { memberSecret, type MemberCredential } from '#install/fleet/member-secret.ts';
import { hubServerOf } from '#trust/authority/upstream/hub/credential.ts';
import { printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import {
  applyObject,
  checkCluster,
  fleetNamespaceOf,
  hubOf,
  MEMBERS,
  type FleetOptions,
} from './hub.ts';

/** Flags of `countersign fleet join`. */
export interface JoinOptions extends FleetOptions {
  readonly memberSigner: string;
  readonly secret?: string;
  readonly secretNamespace: string;
  readonly server?: string;
  /** Seconds. */
  readonly tokenDuration: number;
  readonly out: string;
}

/** Minimum of `spec.expirationSeconds` of a TokenRequest. */
const MIN_TOKEN_SECONDS = 600;

/**
 * Runs `countersign fleet join`.
 *
 * @returns the exit code
 * @throws KubeError, or SignerError USAGE
 */
export async function runJoin(cluster: string, options: JoinOptions): Promise<number> {
  checkCluster(cluster);
  checkSignerName(options.memberSigner);
  const { tokenDuration: tokenSeconds } = options;
  if (tokenSeconds < MIN_TOKEN_SECONDS || tokenSeconds > MAX_HUB_TOKEN_SECONDS) {
    throw usageError('--token-duration must be from 10m to 2160h');
  }
  if (existsSync(options.out)) {
    throw usageError(`${options.out} exists, and is never overwritten; choose another --out`);
  }
  const { client, connection } = await connectUser(options, 'fleet');
  try {
    const ca = await hubCaOf(connection, options);
    const { signer, bundle } = await hubOf(client, options.signer);
    const { fleetNamespace: namespace, signer: signerName } = options;
    const member: Member = { cluster, namespace, signerName, bundle, tokenSeconds };
    await applyMember(client, member);
    const token = await requestToken(client, member);
    const server = options.server ?? connection.server;
    await writeSecret(options, { server, ca, token });
    printText(joinedText(cluster, signer, bundle, options));
    return 0;
  } finally {
    await client.close();
  }
}

/**
 * Applies the objects of the fleet and of one member. Their policies are those of one signer.
 *
 * @throws KubeError, or SignerError USAGE if the namespace has the members of another signer
 */
export async function applyMember(client: Client, member: Member): Promise<void> {
  const [namespace, ...policies] = fleetObjects(member);
  await applyNamespace(client, member, namespace);
  for (const each of [...policies, ...memberObjects(member), memberDefinition()])
    await applyObject(client, each);
  await applyReport(client, member);
}

/**
 * Creates the Namespace, or adds the name of the signer. Of two commands for different signers at
 * the same time, one fails.
 */
async function applyNamespace(client: Client, member: Member, manifest: Manifest): Promise<void> {
  const found = await fleetNamespaceOf(client, member);
  if (found === undefined) {
    try {
      await client.request({ method: 'POST', path: NAMESPACES.collection(), body: manifest });
    } catch (error) {
      if (!(error instanceof KubeError) || error.code !== 'KUBE_ALREADY_EXISTS') throw error;
      // Another command for the same signer was faster.
      await fleetNamespaceOf(client, member);
    }
    return;
  }
  const { resourceVersion } = found.metadata;
  const metadata = { ...membersOf(manifest['metadata']), resourceVersion };
  await applyObject(client, { ...manifest, metadata });
}

/** Interval and number of attempts until the API server serves a new kind. */
const SERVED_INTERVAL_MS = 500;
const MAX_ATTEMPTS = 40;

/** Applies the object for the reports of a member. The API server may not serve a new kind yet. */
async function applyReport(client: Client, member: Member): Promise<void> {
  const { namespace, cluster: name } = member;
  const path = MEMBERS.object({ namespace, name });
  for (let attempts = 1; ; attempts += 1) {
    try {
      await applyObject(client, memberObject(member), path);
      return;
    } catch (error) {
      const isUnserved = error instanceof KubeError && error.code === 'KUBE_NOT_FOUND';
      if (!isUnserved || attempts === MAX_ATTEMPTS) throw error;
      await sleep(SERVED_INTERVAL_MS);
    }
  }
}

async function requestToken(
  client: Client,
  { cluster, namespace, tokenSeconds: expirationSeconds }: Member,
): Promise<string> {
  const { status } = await client.request<{ readonly status?: { readonly token?: string } }>({
    method: 'POST',
    path: SERVICE_ACCOUNTS.object({ namespace, name: cluster }, 'token'),
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds },
    },
  });
  return status?.token ?? '';
}

/**
 * Returns the PEM of the CA of the hub. Called before anything on the hub changes.
 *
 * @throws SignerError KUBE_CONFIG (`wait`) if a member could not verify the hub, or would not call
 * its address
 */
async function hubCaOf(connection: Connection, { server }: JoinOptions): Promise<string> {
  const { tls } = await connection.credentials();
  // The Secret holds neither setting, so a member would reject the server's certificate.
  const isRelaxed = tls.servername !== undefined || tls.rejectUnauthorized === false;
  const address = hubServerOf(server ?? connection.server);
  const fault =
    tls.ca === undefined
      ? 'the kubeconfig has no certificate-authority of the hub, which the member needs'
      : isRelaxed && server === undefined
        ? 'the kubeconfig sets tls-server-name or insecure-skip-tls-verify, which a member does not support; name a host of the certificate of the hub by --server'
        : address === undefined
          ? 'a member calls https://<host>[:<port>] only; name such an address of the hub by --server'
          : undefined;
  if (tls.ca !== undefined && fault === undefined) return tls.ca;
  throw new SignerError({ code: 'KUBE_CONFIG', disposition: 'wait', message: fault ?? '' });
}

/** Writes the Secret with a mode for its owner only: it has a token. */
async function writeSecret(
  { memberSigner: signerName, secretNamespace: namespace, ...options }: JoinOptions,
  credential: MemberCredential,
): Promise<void> {
  const name = options.secret ?? `${signerName.split('/')[1] ?? ''}-ca`;
  const secret = memberSecret({ signerName, secret: { namespace, name } }, credential);
  await writeFile(options.out, documentsOf([secret]), { mode: 0o600, flag: 'wx' });
}

/** Returns the next steps, with the root of the hub for the member to pin. */
function joinedText(
  cluster: string,
  { spec, status }: ClusterSigner,
  bundle: string,
  { out }: JoinOptions,
): string {
  const active = status?.authorities?.find(({ phase }) => phase === 'Active');
  return `cluster ${cluster} joined. On the member:
  kubectl apply -f ${shellWord(out)}   # then delete the file: it has a token
and in spec.authority.managed of its ClusterSigner:
  upstream:
    csr:
      signerName: ${spec.signerName}
      cluster: ${cluster}
      bundle: ${bundle}
      rootFingerprint: ${active?.fingerprint ?? '<fingerprint of the root of the hub>'}
      trustEverythingBelow: true   # consent: verifiers accept every member of the fleet
`;
}
