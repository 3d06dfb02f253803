// SPDX-License-Identifier: Apache-2.0
import type { AcmeSolver } from '../../api/acme/index.ts';
import type { ChallengeSolver, ChallengeToSolve, SolverContext, SolverOutcome } from '../solver.ts';
import { parseDnsAddress, type DnsAddress } from '../dns/address.ts';
import { canonicalName, decodeAnswer, isDnsName, isWithin } from '../dns/message.ts';
import { sendByTcp } from '../dns/transport.ts';
import { signMessage, verifyAnswer, type TsigKey, type TsigVerdict } from '../dns/tsig.ts';
import { encodeUpdate, type TxtChange } from '../dns/update.ts';
import { recordName, resolveBy } from './check-dns.ts';
import { endOf, findZone, followCnames } from './delegation.ts';
import { attemptSignal, credentialText, problem, valueOf, type FailedAttempt } from './outcome.ts';
import { pathForPeople } from './propagation.ts';
import { quote } from '../../quote.ts';

/** How a server is updated. */
export type Rfc2136Settings = NonNullable<AcmeSolver['rfc2136']>;

/** Where an update goes, and what signs it. */
interface Primary {
  /** For people. */
  readonly server: string;
  readonly address: DnsAddress;
  readonly key: TsigKey | undefined;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Adds and removes one value of a TXT record set by dynamic updates (RFC 2136). Other values stay. CNAMEs are followed:
 * the update is of the name that they lead to.
 */
export function createRfc2136Solver(
  settings: Rfc2136Settings,
  context: SolverContext,
): ChallengeSolver {
  const change = async (
    challenge: ChallengeToSolve,
    change: TxtChange['change'],
    signal: AbortSignal,
  ): Promise<SolverOutcome> => {
    const within = attemptSignal(signal);
    const primary = await primaryOf(settings, context);
    if ('kind' in primary) return primary;
    const place = await placeOf(settings, context, challenge, within);
    if (place.kind === 'problem') return place;
    const { at, name, zone } = place;
    const failed = await update(
      primary,
      { zone, name, value: valueOf(challenge), change },
      {
        ...{ signal: within, now: Math.floor(context.clock() / 1000), guard: context.guard },
      },
    );
    return failed ?? { kind: 'done', at };
  };
  return {
    present: (challenge, signal) => change(challenge, 'add', signal),
    cleanUp: (challenge, signal) => change(challenge, 'remove', signal),
  };
}

async function primaryOf(
  { server, tsig }: Rfc2136Settings,
  context: SolverContext,
): Promise<Primary | FailedAttempt> {
  const address = parseDnsAddress(server);
  if (address === undefined)
    return problem('SolverInvalid', `rfc2136.server ${quote(server)} is no host:port`);
  if (tsig === undefined) return { server, address, key: undefined };
  const name = canonicalName(tsig.keyName);
  if (!isDnsName(name))
    return problem('SolverInvalid', `rfc2136.tsig.keyName ${quote(tsig.keyName)} is no DNS name`);
  const text = await credentialText(context, tsig.secret.name, 'tsig');
  if (typeof text !== 'string') return text;
  if (!BASE64.test(text))
    return problem(
      'CredentialInvalid',
      `the key "tsig" of the Secret ${tsig.secret.name} is not the base64 text of a TSIG key`,
    );
  const secret = Buffer.from(text, 'base64');
  return { server, address, key: { name, algorithm: tsig.algorithm, secret } };
}

/** The record, and the zone that it is in: the one that the solver names, or the one that its server has. */
async function placeOf(
  settings: Rfc2136Settings,
  { ask, askNamed, resolvers }: SolverContext,
  challenge: ChallengeToSolve,
  signal: AbortSignal,
): Promise<{ kind: 'place'; at: string; name: string; zone: string } | FailedAttempt> {
  const record = recordName({ type: 'dns-01', dnsName: challenge.dnsName });
  const delegation = await followCnames(resolveBy(ask, resolvers, signal), record);
  if (delegation.kind === 'none')
    return problem('LookupFailed', `where ${record} leads to is not known: ${delegation.problem}`);
  const { path } = delegation;
  const [at, name] = [pathForPeople(path), endOf(path)];
  const { server } = settings;
  const found =
    settings.zone === undefined
      ? await findZone(
          (each) => askNamed(server, { name: each, type: 'SOA', recursive: false }, signal),
          name,
        )
      : ({ kind: 'zone', zone: canonicalName(settings.zone) } as const);
  if (found.kind === 'none') {
    const message = `${server} ${found.problem}; set rfc2136.zone, or another server`;
    return problem('ZoneNotFound', message);
  }
  const { zone } = found;
  if (!isDnsName(name) || !isDnsName(zone))
    return problem('SolverInvalid', `${at} in the zone ${quote(zone)} is no name that is updated`);
  if (!isWithin(name, zone))
    return problem(
      'RecordOutsideZone',
      `${at} is not in the zone ${zone}; correct rfc2136.zone or the selector of the solver`,
    );
  return { kind: 'place', at, name, zone };
}

async function update(
  primary: Primary,
  wanted: TxtChange,
  {
    signal,
    now,
    guard,
  }: {
    readonly signal: AbortSignal;
    readonly now: number;
    readonly guard: SolverContext['guard'];
  },
): Promise<FailedAttempt | undefined> {
  const { server, address, key } = primary;
  const unsigned = encodeUpdate(wanted);
  const signed = key === undefined ? undefined : signMessage(unsigned, key, now);
  const received = await sendByTcp(address, signed?.message ?? unsigned, signal, guard);
  if ('kind' in received) return problem('ServerUnreachable', `${server} ${received.problem}`);
  const answer = decodeAnswer(received);
  if (answer.kind === 'none') return problem('AnswerUnusable', `${server} ${answer.problem}`);
  const refusal = refusalOf(server, answer.rcode, wanted, key);
  if (key === undefined || signed === undefined) return refusal;
  const verdict = verifyAnswer(received, key, signed.mac, now);
  return signatureProblem(server, key, verdict, refusal !== undefined) ?? refusal;
}

/** Why an answer is not believed; a server that knows no keys refuses without one, and that is. */
function signatureProblem(
  server: string,
  key: TsigKey,
  verdict: TsigVerdict,
  isRefusal: boolean,
): FailedAttempt | undefined {
  const { tsig } = verdict;
  if (tsig === 'refused') return tsigRefusal(server, key, verdict);
  if (tsig === 'good' || (tsig === 'none' && isRefusal)) return undefined;
  const what = tsig === 'none' ? 'is not signed' : 'has a wrong signature';
  return problem(
    'AnswerUnverified',
    `the answer of ${server} ${what}: somebody between may have written it; it is not believed`,
  );
}

function tsigRefusal(
  server: string,
  { name, algorithm }: TsigKey,
  { error, aheadSeconds }: Extract<TsigVerdict, { tsig: 'refused' }>,
): FailedAttempt {
  const minutes = Math.round(Math.abs(aheadSeconds ?? 0) / 60);
  const says = {
    BADKEY: `does not know the TSIG key ${name} with ${algorithm}, or not for this zone; correct rfc2136.tsig or the server's keys`,
    BADSIG: `has another secret for the TSIG key ${name}; correct the Secret`,
    BADTIME: `has a clock that is ${minutes} minutes ${(aheadSeconds ?? 0) < 0 ? 'behind' : 'ahead of'} ours; set the clocks`,
    BADTRUNC: `wants a longer signature by the TSIG key ${name}; correct the server's keys`,
    other: `refuses the signature by the TSIG key ${name}`,
  };
  return problem('TsigRefused', `${server} ${says[error]} (${error})`);
}

/** What an RCODE of an update means (RFC 2136 §2.2); undefined where it was done. */
function refusalOf(
  server: string,
  rcode: string,
  { zone, name }: TxtChange,
  key: TsigKey | undefined,
): FailedAttempt | undefined {
  if (rcode === 'NOERROR') return undefined;
  const who = key === undefined ? 'without a TSIG key' : `with the TSIG key ${key.name}`;
  const says: Readonly<Record<string, string>> = {
    REFUSED: `does not allow TXT records of ${name} to be changed ${who}; correct its update policy`,
    NOTAUTH: `is not the primary of the zone ${zone}, or wants a TSIG key; correct rfc2136.server, zone or tsig`,
    NOTZONE: `says that ${name} is not in the zone ${zone}; correct rfc2136.zone`,
    SERVFAIL: `could not write the zone ${zone}; its log says why`,
    NOTIMP: 'knows no dynamic updates; set another server',
    FORMERR: 'does not understand the update; set another server',
  };
  return problem(
    'UpdateRefused',
    `${server} ${says[rcode] ?? `refuses to change TXT records of ${name} in the zone ${zone}`} (${rcode})`,
  );
}
