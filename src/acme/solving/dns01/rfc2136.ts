// SPDX-License-Identifier: Apache-2.0
import type { AcmeSolver } from '#api/acme/acme-signer.ts';
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
import * as messages from '../messages.ts';

/** Server and key of updates. */
export type Rfc2136Settings = NonNullable<AcmeSolver['rfc2136']>;

/** Target of an update, and its key. */
interface Primary {
  /** Address in the settings, for people. */
  readonly server: string;
  readonly address: DnsAddress;
  readonly key: TsigKey | undefined;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Creates a solver that adds and removes one value of a TXT record set by dynamic updates (RFC
 * 2136). Other values stay. It follows CNAMEs and updates the name that they lead to.
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
        at,
        signal: within,
        now: Math.floor(context.clock() / 1000),
        guard: context.guard,
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
  if (address === undefined) return problem('SolverInvalid', messages.invalidServer(server));
  if (tsig === undefined) return { server, address, key: undefined };
  const name = canonicalName(tsig.keyName);
  if (!isDnsName(name)) return problem('SolverInvalid', messages.invalidKeyName(tsig.keyName));
  const text = await credentialText(context, tsig.secret.name, 'tsig');
  if (typeof text !== 'string') return text;
  if (!BASE64.test(text))
    return problem('CredentialInvalid', messages.invalidKey(tsig.secret.name));
  const secret = Buffer.from(text, 'base64');
  return { server, address, key: { name, algorithm: tsig.algorithm, secret } };
}

/** Returns the record and its zone. The zone is the solver's setting, or comes from its server. */
async function placeOf(
  settings: Rfc2136Settings,
  { ask, askNamed, resolvers }: SolverContext,
  challenge: ChallengeToSolve,
  signal: AbortSignal,
): Promise<{ kind: 'place'; at: string; name: string; zone: string } | FailedAttempt> {
  const record = recordName({ type: 'dns-01', dnsName: challenge.dnsName });
  const delegation = await followCnames(resolveBy(ask, resolvers, signal), record);
  if (delegation.kind === 'none')
    return problem('LookupFailed', messages.cnamesNotFollowed(record, delegation.problem));
  const [at, name] = [pathForPeople(delegation), endOf(delegation.path)];
  const { server } = settings;
  const found =
    settings.zone === undefined
      ? await findZone(
          (each) => askNamed(server, { name: each, type: 'SOA', recursive: false }, signal),
          name,
        )
      : ({ kind: 'zone', zone: canonicalName(settings.zone) } as const);
  if (found.kind === 'none') {
    const message = messages.primaryWithoutZone(server, found.problem, at);
    return problem('ZoneNotFound', message);
  }
  const { zone } = found;
  if (!isDnsName(name) || !isDnsName(zone))
    return problem('SolverInvalid', messages.notUpdatable(at, zone));
  if (!isWithin(name, zone))
    return problem('RecordOutsideZone', messages.recordOutsideZone(at, zone));
  return { kind: 'place', at, name, zone };
}

async function update(
  primary: Primary,
  wanted: TxtChange,
  {
    at,
    signal,
    now,
    guard,
  }: {
    /** The record, for people. */
    readonly at: string;
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
  const refusal = refusalOf(server, answer.rcode, { zone: wanted.zone, at }, key);
  if (key === undefined || signed === undefined) return refusal;
  const verdict = verifyAnswer(received, key, signed.mac, now);
  return signatureProblem(server, key, verdict, refusal !== undefined) ?? refusal;
}

/**
 * Returns the reason to reject an answer. A server without keys refuses without a signature, and
 * that refusal counts.
 */
function signatureProblem(
  server: string,
  key: TsigKey,
  verdict: TsigVerdict,
  isRefusal: boolean,
): FailedAttempt | undefined {
  const { tsig } = verdict;
  if (tsig === 'refused') return tsigRefusal(server, key, verdict);
  if (tsig === 'good' || (tsig === 'none' && isRefusal)) return undefined;
  const what = tsig === 'none' ? messages.NOT_SIGNED : messages.WRONG_SIGNATURE;
  return problem('AnswerUnverified', messages.answerUnverified(server, what));
}

function tsigRefusal(
  server: string,
  { name, algorithm }: TsigKey,
  { error, aheadSeconds }: Extract<TsigVerdict, { tsig: 'refused' }>,
): FailedAttempt {
  const minutes = Math.round(Math.abs(aheadSeconds ?? 0) / 60);
  const says = {
    BADKEY: messages.unknownKey(name, algorithm),
    BADSIG: messages.otherSecret(name),
    BADTIME: messages.clockDiffers(minutes, aheadSeconds ?? 0),
    BADTRUNC: messages.longerSignature(name),
    other: messages.signatureRefused(name),
  };
  return problem('TsigRefused', `${server} ${says[error]} (${error})`);
}

/** Returns the meaning of an update's RCODE (RFC 2136 §2.2), or undefined for success. */
function refusalOf(
  server: string,
  rcode: string,
  { zone, at }: { readonly zone: string; readonly at: string },
  key: TsigKey | undefined,
): FailedAttempt | undefined {
  if (rcode === 'NOERROR') return undefined;
  const who = key === undefined ? messages.WITHOUT_KEY : messages.withKey(key.name);
  const says: Readonly<Record<string, string>> = {
    REFUSED: messages.updateNotAllowed(at, who),
    NOTAUTH: messages.notPrimary(zone, at),
    NOTZONE: messages.nameOutsideZone(at, zone),
    SERVFAIL: messages.zoneNotWritten(zone),
    NOTIMP: messages.NO_UPDATES,
    FORMERR: messages.UPDATE_NOT_UNDERSTOOD,
  };
  return problem(
    'UpdateRefused',
    `${server} ${says[rcode] ?? messages.updateRefused(at, zone)} (${rcode})`,
  );
}
