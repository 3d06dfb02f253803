// SPDX-License-Identifier: Apache-2.0
import { z } from 'zod';
import type { AcmeSolver } from '../../api/acme/index.ts';
import { isDnsName, canonicalName } from '../dns/message.ts';
import type { ChallengeSolver, ChallengeToSolve, SolverContext, SolverOutcome } from '../solver.ts';
import { recordName, resolveBy } from './check-dns.ts';
import { followCnames, nameForPeople } from './delegation.ts';
import { attemptSignal, credentialText, problem, valueOf, type FailedAttempt } from './outcome.ts';
import { quoteList } from '../../quote.ts';

/** Which server, and whose accounts. */
export type AcmeDnsSettings = NonNullable<AcmeSolver['acmeDNS']>;

/** An account as acme-dns hands it out, and as cert-manager stores it. */
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

/** acme-dns's own words for what is wrong (its api.go and auth.go); another server's may be somebody's secret. */
const KNOWN_ERRORS: Readonly<Record<string, string>> = {
  forbidden: 'it does not know the account, or not from this address (forbidden)',
  bad_subdomain: 'it does not know the subdomain of the account (bad_subdomain)',
  bad_txt: 'it takes values of 43 characters only (bad_txt)',
  db_error: 'its database failed (db_error)',
};

/**
 * Writes to an acme-dns server, which has two values a name and forgets the older one: a wildcard and its base name fit.
 * There is no clean-up; the next proof overwrites.
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
  // To write it again would overwrite the older of the two values, which may be the other one's.
  const isThere = there.kind === 'answer' && there.answers.some((each) => each.value === value);
  const failed = isThere ? undefined : await write(settings, context, { found, value, signal });
  if (failed !== undefined) return failed;
  const record = recordName({ type: 'dns-01', dnsName: challenge.dnsName });
  const delegation = await followCnames(resolve, record);
  if (delegation.kind === 'delegation' && !delegation.path.includes(fulldomain))
    return problem(
      'NotDelegated',
      `${nameForPeople(record)} leads to nothing that acme-dns serves; write this record: ${record}. IN CNAME ${fulldomain}.`,
    );
  return { kind: 'done', at: `${record} (CNAME to ${fulldomain})` };
}

async function accountFor(
  { secret: { name } }: AcmeDnsSettings,
  context: SolverContext,
  dnsName: string,
): Promise<Account | FailedAttempt> {
  const text = await credentialText(context, name, 'accounts');
  if (typeof text !== 'string') return text;
  const read = accounts.safeParse(parsed(text));
  if (!read.success)
    return problem(
      'CredentialInvalid',
      `the key "accounts" of the Secret ${name} is no JSON object of acme-dns accounts by name: username, password, fulldomain and subdomain`,
    );
  const found = Object.hasOwn(read.data, dnsName) ? read.data[dnsName] : undefined;
  if (found !== undefined) return found;
  const known = quoteList(Object.keys(read.data));
  return problem(
    'CredentialMissing',
    `the key "accounts" of the Secret ${name} has no account for ${dnsName}, but for ${known === '' ? 'no name' : known}; register one and add it`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What V8 says quotes the text, which has passwords.
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
    ...{ method: 'POST', url: `${server.replace(/\/+$/, '')}/update`, signal },
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json' },
      ...{ 'x-api-user': found.username, 'x-api-key': found.password },
    },
    body: JSON.stringify({ subdomain: found.subdomain, txt: value }),
  });
  if ('kind' in received) return problem('ServerUnreachable', `${server} ${received.detail}`);
  if (received.status === 200) return undefined;
  const said = z.object({ error: z.string() }).safeParse(parsed(received.body.toString('utf8')));
  const known = said.success && Object.hasOwn(KNOWN_ERRORS, said.data.error);
  const why = known ? `: ${KNOWN_ERRORS[said.data.error] ?? ''}` : '';
  return problem('UpdateRefused', `${server} answers HTTP status ${received.status}${why}`);
}
