// SPDX-License-Identifier: Apache-2.0
import { z } from 'zod';
import type { AcmeSolver } from '../../api/acme/index.ts';
import { KubeError } from '../../kube/client/kube-error.ts';
import { resource } from '../../kube/resource/resource.ts';
import { printable, quote } from '../../quote.ts';
import type { ChallengeSolver, ChallengeToSolve, SolverContext, SolverOutcome } from '../solver.ts';
import { findPlace, recordName, resolveBy, type RecordPlace } from './check-dns.ts';
import { endOf } from './delegation.ts';
import { attemptSignal, problem, valueOf, type FailedAttempt } from './outcome.ts';
import { pathForPeople } from './propagation.ts';

/** Which provider is asked. */
export type WebhookSettings = NonNullable<AcmeSolver['webhook']>;

/** The version that every provider serves, whatever its group. */
const VERSION = 'v1alpha1';
/** What a payload calls itself; providers serve it under their own groups (cert-manager, pkg/acme/webhook/apis). */
const PAYLOAD = { apiVersion: 'webhook.acme.cert-manager.io/v1alpha1', kind: 'ChallengePayload' };
/** UTF-16 units of a provider's words. */
const MAX_WORDS = 400;

const answered = z.object({
  response: z.object({
    success: z.boolean(),
    status: z.object({ message: z.string().optional() }).optional(),
  }),
});

/**
 * Asks a DNS provider that was written for cert-manager: an API of its own behind the API server. It reads its credentials
 * by itself, in a namespace that is computed and never a setting: whoever chose it could have Secrets of others read.
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
      ...{ action, ...requestFor(challenge, place) },
      resourceNamespace: context.credentialNamespace,
      config: settings.config ?? {},
    };
    const failed = await send(settings, context, request, within);
    return failed ?? { kind: 'done', at: pathForPeople(place.path) };
  };
  return {
    present: (challenge, signal) => act(challenge, 'Present', signal),
    cleanUp: (challenge, signal) => act(challenge, 'CleanUp', signal),
  };
}

/** `ChallengeRequest` of cert-manager, v1alpha1. */
function requestFor(challenge: ChallengeToSolve, { path, zone }: RecordPlace): object {
  const { uid, dnsName, wildcard } = challenge;
  return {
    ...{ uid, type: 'dns-01', dnsName: wildcard ? `*.${dnsName}` : dnsName },
    ...{ key: valueOf(challenge), resolvedFQDN: `${endOf(path)}.`, resolvedZone: `${zone}.` },
    // Those of its own machine would serve every namespace.
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
  const provider = `the provider ${groupName}/${quote(solverName)}`;
  try {
    const body = { ...PAYLOAD, request };
    const post = { method: 'POST', path, body, signal } as const;
    const given = await client.request<unknown>({ ...post, isAggregated: true });
    const read = answered.safeParse(given);
    if (!read.success)
      return problem('ProviderUnusable', `${provider} answers no ChallengePayload with a response`);
    const { success, status } = read.data.response;
    if (success) return undefined;
    const words = quote(status?.message ?? '', MAX_WORDS);
    return problem('ProviderRefused', `${provider} could not do it: ${words}`);
  } catch (error) {
    if (error instanceof KubeError) return notServed(error, groupName, provider);
    throw error;
  }
}

function notServed(error: KubeError, groupName: string, provider: string): FailedAttempt {
  const { status, retryAfter } = error;
  // The provider can have written it.
  const message = printable(error.message.slice(0, MAX_WORDS));
  const failed = (reason: string, hint: string): FailedAttempt => ({
    ...problem(reason, `${provider} was not asked: ${message}${hint}`),
    ...(retryAfter === undefined ? {} : { retryAfterMs: retryAfter }),
  });
  if (status === 403)
    return failed(
      'ProviderForbidden',
      `; apply what "countersign rbac --dns-webhook ${groupName}" prints`,
    );
  if (status === 404)
    return failed(
      'ProviderMissing',
      '; install the provider, or correct webhook.groupName or solverName',
    );
  return failed('ProviderUnavailable', '');
}
