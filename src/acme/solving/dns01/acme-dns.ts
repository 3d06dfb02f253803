// SPDX-License-Identifier: Apache-2.0
import * as z from 'zod';
import type { AcmeSolver } from '#api/acme/acme-signer.ts';
import { isDnsName, canonicalName } from '../dns/message.ts';
import type { ChallengeSolver, ChallengeToSolve, SolverContext, SolverOutcome } from '../solver.ts';
import { recordName, resolveBy } from './check-dns.ts';
import { followCnames, nameForPeople, type Delegation } from './delegation.ts';
import { attemptSignal, credentialText, problem, valueOf, type FailedAttempt } from './outcome.ts';
import { quoteList } from '#base/quote.ts';
import * as messages from '../messages.ts';

/** Server and Secret with accounts. */
export type AcmeDnsSettings = NonNullable<AcmeSolver['acmeDNS']>;

/** An account in the form that acme-dns returns and cert-manager stores. */
const account = z.object({
  username: z
    .string()
    .min(1)
    .max(256)
    .regex(/^[\x21-\x7e]+$/),
  password: z
    .string()
    .min(1)
    .max(256)
    .regex(/^[\x21-\x7e]+$/),
  fulldomain: z.string().transform(canonicalName).refine(isDnsName),
  subdomain: z.string().min(1).max(63),
});
type Account = z.output<typeof account>;
const accounts = z.record(z.string(), account);

/**
 * Creates a solver for an acme-dns server. The server stores two values a name and forgets the
 * older one, which is enough for a wildcard and its base name. It has no clean-up: the next proof
 * overwrites the value.
 */
export function createAcmeDnsSolver(
  settings: AcmeDnsSettings,
  context: SolverContext,
): ChallengeSolver {
  return {
    present: (challenge, signal) => present(settings, context, challenge, attemptSignal(signal)),
    cleanUp: () => Promise.resolve({ kind: 'done' }),
  };
}

async function present(
  settings: AcmeDnsSettings,
  context: SolverContext,
  challenge: ChallengeToSolve,
  signal: AbortSignal,
): Promise<SolverOutcome> {
  const found = await accountFor(settings, context, challenge.dnsName);
  if ('kind' in found) return found;
  const { fulldomain } = found;
  const resolve = resolveBy(context.ask, context.resolvers, signal);
  const value = valueOf(challenge);
  const there = await resolve(fulldomain, 'TXT');
  // A second write would overwrite the older of the two values, which may be the other name's.
  const isThere = there.kind === 'answer' && there.answers.some((each) => each.value === value);
  const failed = isThere ? undefined : await write(settings, context, { found, value, signal });
  if (failed !== undefined) return failed;
  const record = recordName({ type: 'dns-01', dnsName: challenge.dnsName });
  const delegation = await followCnames(resolve, record);
  if (delegation.kind === 'delegation' && !leadsTo(delegation, fulldomain))
    return problem(
      'NotDelegated',
      messages.notDelegated(nameForPeople(record), record, fulldomain),
    );
  return { kind: 'done', at: messages.cname(record, fulldomain) };
}

/** A CNAME of a wildcard serves as well: acme-dns writes nothing at the name itself. */
function leadsTo({ path, ofWildcard = path }: Delegation, fulldomain: string): boolean {
  return ofWildcard.includes(fulldomain);
}

async function accountFor(
  { secret: { name } }: AcmeDnsSettings,
  context: SolverContext,
  dnsName: string,
): Promise<Account | FailedAttempt> {
  const text = await credentialText(context, name, 'accounts');
  if (typeof text !== 'string') return text;
  const read = accounts.safeParse(parsed(text));
  if (!read.success) return problem('CredentialInvalid', messages.invalidAccounts(name));
  const found = Object.hasOwn(read.data, dnsName) ? read.data[dnsName] : undefined;
  if (found !== undefined) return found;
  const known = quoteList(Object.keys(read.data));
  return problem('CredentialMissing', messages.accountMissing(name, dnsName, known));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // V8's message quotes the text, which has passwords.
    return undefined;
  }
}

async function write(
  { server }: AcmeDnsSettings,
  { http }: SolverContext,
  wanted: { readonly found: Account; readonly value: string; readonly signal: AbortSignal },
): Promise<FailedAttempt | undefined> {
  const { found, value, signal } = wanted;
  const received = await http.send({
    method: 'POST',
    url: `${server.replace(/\/+$/, '')}/update`,
    signal,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      'x-api-user': found.username,
      'x-api-key': found.password,
    },
    body: JSON.stringify({ subdomain: found.subdomain, txt: value }),
  });
  if ('kind' in received) return problem('ServerUnreachable', `${server} ${received.detail}`);
  if (received.status === 200) return undefined;
  const said = z.object({ error: z.string() }).safeParse(parsed(received.body.toString('utf8')));
  const known = said.success && Object.hasOwn(messages.ACME_DNS_ERRORS, said.data.error);
  const why = known ? `: ${messages.ACME_DNS_ERRORS[said.data.error] ?? ''}` : '';
  return problem('UpdateRefused', messages.serverStatus(server, received.status, why));
}
