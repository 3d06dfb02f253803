// SPDX-License-Identifier: Apache-2.0
/** Requests the CA of a member from the hub of its fleet, for `upstream.csr`. */
import { bundleName, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import { CSR_RESOURCE, type CertificateSigningRequest } from '#api/request/csr.ts';
import { secretOf, type ClusterSigner } from '#api/signer/cluster-signer.ts';
import { isOwned } from '#api/signer/grant.ts';
import { hubSecretName } from '#api/signer/upstream-hub.ts';
import { keyOf, type Secret } from '#api/object/object.ts';
import { attempt, SignerError } from '#base/errors.ts';
import type { Clock, Random } from '#base/ports.ts';
import { upstreamUnavailable } from '#ca/upstream/refusals.ts';
import { serverTime } from '#component/server-time.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { SECRETS } from '#kube/resource/core-v1.ts';
import { encodePem } from '#pki/der/pem.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import { pendingIn } from '../../decide/upstream.ts';
import type { UpstreamVerdict } from '../answer.ts';
import { foreignText } from '#component/vault/foreign-text.ts';
import type { Upstreams } from '../index.ts';
import { createKeptAnswers } from '../kept-answers.ts';
import { readHubCredential, type HubCredential } from './credential.ts';
import {
  signingRequestOf,
  verdictOf,
  type NewSigningRequest,
  type UpstreamRequest,
} from './signing-request.ts';
import * as messages from './messages.ts';

export interface HubInit {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Opens a client of the hub. It trusts the CA of the credential alone. */
  readonly connect: (credential: HubCredential) => Client;
}

const REQUESTS = resource(CSR_RESOURCE);
/** A hub needs Kubernetes 1.37, which serves v1. */
const BUNDLES = resource({ ...CSR_RESOURCE, plural: 'clustertrustbundles' });

/** A hub that does not answer must not delay other signers for longer. */
const CALL_MS = 10_000;
/** Limit of an object of the hub in bytes. */
const MAX_HUB_OBJECT_BYTES = 4 * 1024 * 1024;

/** Calls hubs, at most once for each delay, however often a signer is reconciled. */
export function createHub(init: HubInit): Upstreams {
  const answers = createKeptAnswers(init);
  return {
    answerFor: (signer, secret) => {
      const wanted = secret === undefined ? undefined : wantedOf(signer, secret);
      return answers.answerFor(
        keyOf(signer.metadata),
        wanted && { id: wanted.pem, ask: () => ask(init, signer, wanted) },
      );
    },
  };
}

/** Returns the request for the key that waits. Undefined if none is wanted. */
function wantedOf({ spec, metadata }: ClusterSigner, secret: Secret): UpstreamRequest | undefined {
  const { managed } = spec.authority;
  const upstream = managed?.upstream?.csr;
  if (managed === undefined || upstream === undefined) return undefined;
  if (!isOwned(secret, metadata.uid)) return undefined;
  const pending = pendingIn(secret, managed);
  if (pending === undefined) return undefined;
  return { upstream, pem: pending.pem, duration: managed.duration };
}

/** Reads the request on the hub, or creates it. Reports every failure as an answer. */
async function ask(
  init: HubInit,
  signer: ClusterSigner,
  wanted: UpstreamRequest,
): Promise<UpstreamVerdict> {
  const credential = await credentialOf(init, signer);
  if (typeof credential === 'string') return unavailable(credential);
  const request = signingRequestOf(wanted, credential.token.namespace);
  const client = init.connect(credential);
  try {
    const found = (await read(client, request)) ?? (await create(client, request));
    const verdict = verdictOf(found, request);
    return verdict.kind === 'chain' ? await withRoot(client, wanted, verdict.chain) : verdict;
  } catch (error) {
    return unavailable(messages.hubUnavailable(credential.server, problemOf(error, credential)));
  } finally {
    // The next call is seconds to hours later, and the token may differ then.
    await client.close();
  }
}

/**
 * Returns why a call of a hub failed. A hub can answer with anything, and none of its answers may
 * stop a reconciliation: the owner may be about to distrust it.
 */
export function problemOf(error: unknown, { token }: HubCredential): string {
  const isText = error instanceof KubeError || error instanceof SignerError;
  return isText ? foreignText(error.message, [token.text]) : messages.MALFORMED_ANSWER;
}

function unavailable(problem: string): UpstreamVerdict {
  return { kind: 'unavailable', refusal: upstreamUnavailable(problem) };
}

/**
 * Reads the credential of a signer.
 *
 * @returns the fault as text
 */
export async function credentialOf(
  init: Pick<HubInit, 'client' | 'clock'>,
  { spec }: ClusterSigner,
): Promise<HubCredential | string> {
  const { namespace, name } = secretOf(spec);
  const place = { namespace, name: hubSecretName(name) };
  const shown = keyOf(place);
  const secret = await readSecret(init, place);
  if (secret instanceof KubeError) {
    return secret.code === 'KUBE_NOT_FOUND'
      ? messages.secretMissing(shown)
      : messages.secretUnreadable(shown, secret.message);
  }
  const credential = readHubCredential(secret, spec.signerName);
  if (typeof credential === 'string') return messages.secretUnusable(shown, credential);
  const { account, expiresAt } = credential.token;
  const cluster = spec.authority.managed?.upstream?.csr?.cluster ?? '';
  if (account !== cluster) {
    return messages.secretUnusable(shown, messages.otherAccount(account, cluster));
  }
  if (serverTime(init) >= expiresAt) return messages.tokenExpired(shown, expiresAt);
  return credential;
}

async function readSecret(
  { client }: Pick<HubInit, 'client'>,
  place: { readonly namespace: string; readonly name: string },
): Promise<Secret | KubeError> {
  try {
    return await client.request<Secret>({ method: 'GET', path: SECRETS.object(place) });
  } catch (error) {
    if (error instanceof KubeError) return error;
    throw error;
  }
}

/** Limits of each call to a hub. */
function limits(): { readonly maxBytes: number; readonly signal: AbortSignal } {
  return { maxBytes: MAX_HUB_OBJECT_BYTES, signal: AbortSignal.timeout(CALL_MS) };
}

async function read(
  client: Client,
  { metadata }: NewSigningRequest,
): Promise<CertificateSigningRequest | undefined> {
  try {
    const path = REQUESTS.object(metadata);
    return await client.request<CertificateSigningRequest>({ method: 'GET', path, ...limits() });
  } catch (error) {
    if (error instanceof KubeError && error.code === 'KUBE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** Creates the request, or reads one that an earlier call created. */
async function create(client: Client, body: NewSigningRequest): Promise<CertificateSigningRequest> {
  try {
    const path = REQUESTS.collection();
    return await client.request<CertificateSigningRequest>({
      method: 'POST',
      path,
      body,
      ...limits(),
    });
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'KUBE_ALREADY_EXISTS') throw error;
    const found = await read(client, body);
    if (found === undefined) throw error;
    return found;
  }
}

/**
 * Appends the pinned root, which the hub publishes and does not send with certificates. The chain
 * is judged afterwards, like one that a user installs.
 */
async function withRoot(
  client: Client,
  { upstream }: UpstreamRequest,
  chain: string,
): Promise<UpstreamVerdict> {
  const name = bundleName(upstream.signerName, upstream.bundle);
  const path = BUNDLES.object({ name });
  const bundle = await client.request<ClusterTrustBundle>({ method: 'GET', path, ...limits() });
  const anchors = attempt(() => readAnchors(bundle.spec.trustBundle));
  const root =
    anchors instanceof SignerError
      ? undefined
      : anchors.find(({ raw }) => fingerprint(raw) === upstream.rootFingerprint);
  if (root === undefined) return unavailable(messages.rootUnknown(name, upstream.rootFingerprint));
  return { kind: 'chain', chain: chain + encodePem('CERTIFICATE', root.raw) };
}
