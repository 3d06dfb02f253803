// SPDX-License-Identifier: Apache-2.0
import * as z from 'zod';
import type { AcmeSolver } from '#api/acme/acme-signer.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { resource } from '#kube/resource/resource.ts';
import { printable, quote } from '#base/quote.ts';
import type { ChallengeSolver, ChallengeToSolve, SolverContext, SolverOutcome } from '../solver.ts';
import { findPlace, recordName, resolveBy, type RecordPlace } from './check-dns.ts';
import { endOf } from './delegation.ts';
import { attemptSignal, problem, valueOf, type FailedAttempt } from './outcome.ts';
import { pathForPeople } from './propagation.ts';
import * as messages from '../messages.ts';

/** Provider to call. */
export type WebhookSettings = NonNullable<AcmeSolver['webhook']>;

/** Version that every provider serves in its group. */
const VERSION = 'v1alpha1';
/**
 * Type of a payload. Providers serve it in their own groups (cert-manager, pkg/acme/webhook/apis).
 */
const PAYLOAD = { apiVersion: 'webhook.acme.cert-manager.io/v1alpha1', kind: 'ChallengePayload' };
/** Limit in UTF-16 units on a provider's text. */
const MAX_WORDS = 400;

const answered = z.object({
  response: z.object({
    success: z.boolean(),
    status: z.object({ message: z.string().optional() }).optional(),
  }),
});

/**
 * Creates a solver that calls a DNS provider for cert-manager: an aggregated API behind the API
 * server. The provider reads its credentials itself. Their namespace is computed, never a setting,
 * which could have Secrets of other namespaces read.
 */
export function createWebhookSolver(
  settings: WebhookSettings,
  context: SolverContext,
): ChallengeSolver {
  const act = async (
    challenge: ChallengeToSolve,
    action: 'Present' | 'CleanUp',
    signal: AbortSignal,
  ): Promise<SolverOutcome> => {
    const within = attemptSignal(signal);
    const { ask, resolvers } = context;
    const record = recordName({ type: 'dns-01', dnsName: challenge.dnsName });
    const place = await findPlace(resolveBy(ask, resolvers, within), record);
    if (place.kind === 'none') return problem('ZoneNotFound', place.problem);
    const request = {
      action,
      ...requestFor(challenge, place),
      resourceNamespace: context.credentialNamespace,
      config: settings.config ?? {},
    };
    const failed = await send(settings, context, request, within);
    return failed ?? { kind: 'done', at: pathForPeople(place) };
  };
  return {
    present: (challenge, signal) => act(challenge, 'Present', signal),
    cleanUp: (challenge, signal) => act(challenge, 'CleanUp', signal),
  };
}

/** Returns `ChallengeRequest` of cert-manager, v1alpha1. */
function requestFor(challenge: ChallengeToSolve, { path, zone }: RecordPlace): object {
  const { uid, dnsName, wildcard } = challenge;
  return {
    uid,
    type: 'dns-01',
    dnsName: wildcard ? `*.${dnsName}` : dnsName,
    key: valueOf(challenge),
    resolvedFQDN: `${endOf(path)}.`,
    resolvedZone: `${zone}.`,
    // Credentials of the provider's own machine would serve every namespace.
    allowAmbientCredentials: false,
  };
}

async function send(
  { groupName, solverName }: WebhookSettings,
  { client }: SolverContext,
  request: object,
  signal: AbortSignal,
): Promise<FailedAttempt | undefined> {
  const plural = encodeURIComponent(solverName);
  const path = resource({ group: groupName, version: VERSION, plural }).collection();
  const provider = messages.providerText(groupName, solverName);
  try {
    const body = { ...PAYLOAD, request };
    const post = { method: 'POST', path, body, signal } as const;
    const given = await client.request<unknown>({ ...post, isAggregated: true });
    const read = answered.safeParse(given);
    if (!read.success) return problem('ProviderUnusable', messages.unusableProvider(provider));
    const { success, status } = read.data.response;
    if (success) return undefined;
    const words = quote(status?.message ?? '', MAX_WORDS);
    return problem('ProviderRefused', messages.providerRefused(provider, words));
  } catch (error) {
    if (error instanceof KubeError) return notServed(error, groupName, provider);
    throw error;
  }
}

function notServed(error: KubeError, groupName: string, provider: string): FailedAttempt {
  const { status, retryAfter } = error;
  // The provider may have written this message.
  const message = printable(error.message.slice(0, MAX_WORDS));
  const failed = (reason: string, hint: string): FailedAttempt => ({
    ...problem(reason, messages.providerNotCalled(provider, message, hint)),
    ...(retryAfter === undefined ? {} : { retryAfterMs: retryAfter }),
  });
  if (status === 403) return failed('ProviderForbidden', messages.grantProvider(groupName));
  if (status === 404) return failed('ProviderMissing', messages.INSTALL_PROVIDER);
  return failed('ProviderUnavailable', '');
}
