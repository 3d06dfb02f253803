// SPDX-License-Identifier: Apache-2.0
import type { CertManagerUpstream, ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { CertificateRequest } from '#api/request/certificate-request.ts';
import { isOwned } from '#api/signer/grant.ts';
import { keyOf, type Secret } from '#api/object/object.ts';
import type { Clock, Random } from '#base/ports.ts';
import { upstreamUnavailable } from '#ca/upstream/refusals.ts';
import type { Client } from '#kube/client/client.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { pendingIn } from '../decide/upstream.ts';
import type { UpstreamAnswer, UpstreamVerdict } from './answer.ts';
import {
  CERTIFICATE_REQUESTS,
  certificateRequestOf,
  verdictOf,
  type NewRequest,
} from './certificate-request.ts';
import { createKeptAnswers } from './kept-answers.ts';
import type { Vaults } from './vault/index.ts';
import * as messages from '../messages.ts';

export interface UpstreamsInit {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  /** Absent in an installation that lists no server of Vault. */
  readonly vaults?: Vaults | undefined;
}

/** The upstream CAs that `authority` calls by itself. */
export interface Upstreams {
  /**
   * Returns the answer to the request for the key that waits. Creates the request if it does not
   * exist. Undefined if no key waits, or if a user carries its request.
   *
   * @param secret - the CA Secret, undefined if it is missing or not known
   */
  answerFor(signer: ClusterSigner, secret: Secret | undefined): Promise<UpstreamAnswer | undefined>;
}

/** Calls upstream CAs, at most once for each delay, however often a signer is reconciled. */
export function createUpstreams(init: UpstreamsInit): Upstreams {
  const answers = createKeptAnswers(init);
  return {
    answerFor: async (signer, secret) => {
      if (isByVault(signer)) return init.vaults?.answerFor(signer, secret);
      const wanted = secret === undefined ? undefined : wantedRequest(signer, secret);
      return answers.answerFor(
        keyOf(signer.metadata),
        wanted && {
          id: wanted.metadata.name,
          certificateRequest: keyOf(wanted.metadata),
          ask: () => ask(init, wanted),
        },
      );
    },
  };
}

function isByVault({ spec }: ClusterSigner): boolean {
  return spec.authority.managed?.upstream?.vault !== undefined;
}

/** Returns the request to create for the key that waits. Undefined if none is wanted. */
function wantedRequest(signer: ClusterSigner, secret: Secret): NewRequest | undefined {
  const { managed } = signer.spec.authority;
  const upstream: CertManagerUpstream | undefined = managed?.upstream?.certManager;
  if (managed === undefined || upstream === undefined) return undefined;
  if (!isOwned(secret, signer.metadata.uid)) return undefined;
  const pending = pendingIn(secret, managed);
  if (pending === undefined) return undefined;
  return certificateRequestOf({
    signer,
    upstream,
    request: pending.pem,
    duration: managed.duration,
  });
}

/** Reads the request, or creates it. Reports failures of the API server as an answer. */
async function ask(init: UpstreamsInit, wanted: NewRequest): Promise<UpstreamVerdict> {
  try {
    return verdictOf((await read(init, wanted)) ?? (await create(init, wanted)), wanted);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    const refusal = upstreamUnavailable(
      error.code === 'KUBE_FORBIDDEN' || error.code === 'KUBE_NOT_FOUND'
        ? messages.requestNotCreated(keyOf(wanted.metadata), error.message)
        : error.message,
    );
    return { kind: 'unavailable', refusal };
  }
}

async function read(
  { client }: UpstreamsInit,
  { metadata }: NewRequest,
): Promise<CertificateRequest | undefined> {
  try {
    const path = CERTIFICATE_REQUESTS.object(metadata);
    return await client.request<CertificateRequest>({ method: 'GET', path });
  } catch (error) {
    if (error instanceof KubeError && error.code === 'KUBE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** Creates the request, or reads one that an earlier call created. */
async function create(init: UpstreamsInit, wanted: NewRequest): Promise<CertificateRequest> {
  try {
    const path = CERTIFICATE_REQUESTS.collection(wanted.metadata.namespace);
    return await init.client.request<CertificateRequest>({ method: 'POST', path, body: wanted });
  } catch (error) {
    if (!(error instanceof KubeError) || error.code !== 'KUBE_ALREADY_EXISTS') throw error;
    const found = await read(init, wanted);
    if (found === undefined) throw error;
    return found;
  }
}
