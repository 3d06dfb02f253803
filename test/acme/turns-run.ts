// SPDX-License-Identifier: Apache-2.0
/**
 * Hundreds of hostile namespaces beside one honest with Pebble: what runs for Challenges, on a
 * clock that jumps over waits.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openAccount, presentedValue } from '#acme/issuing/index.ts';
import type { AcmeSession } from '#acme/issuing/session.ts';
import { getAuthorization, newOrder } from '#acme/protocol/orders.ts';
import { openServer } from '#acme/protocol/server.ts';
import { isToBePresented, type Challenge } from '#api/acme/challenge.ts';
import { keyOf } from '#api/object/object.ts';
import { driveChallenge } from '#acme/acme/challenges/challenge-work.ts';
import { ChallengeSlots } from '#acme/acme/challenges/slots.ts';
import type { AcmeContext } from '#acme/acme/context.ts';
import { createSessions } from '#acme/acme/signers/sessions.ts';
import { beginTerm } from '#acme/acme/store/leader-state.ts';
import { makeDirectory, removeDirectory } from '../cluster/directory.ts';
import { recordedComponent } from '../support/component/recorded-component.ts';
import { newKey, valueOf } from './calls.ts';
import { TxtRecords } from './lived-order.ts';
import { startPebble, type Pebble } from './pebble.ts';

const MINUTE = 60_000;
const SLOTS = 60;
/** Of ADR 0069. */
const [TURN_MS, SHORT_TURN_MS] = [45 * MINUTE, 3 * MINUTE];

let directory: string;
let pebble: Pebble;
before(async () => {
  directory = makeDirectory();
  // Refused nonces have laws of their own: of hundreds of calls some would be refused three times
  // in a row.
  pebble = await startPebble(directory, { env: { PEBBLE_WFE_NONCEREJECT: '0' } });
});
after(async () => {
  await pebble.stop();
  removeDirectory(directory);
});

async function openSession(): Promise<AcmeSession> {
  const init = { userAgent: 'countersign-test', clock: Date.now, onCall: () => undefined };
  const server = openServer({ ...init, ...pebble });
  const settings = { contact: [], termsOfServiceAgreed: true };
  const key = await newKey();
  const { account } = valueOf(await openAccount(server, { key }, settings));
  // Its authorizations end after an hour; those of Let's Encrypt after a week.
  const post: typeof server.post = async (caller, target) => {
    const answer = await server.post(caller, target);
    return answer.kind === 'ok'
      ? { ...answer, value: { ...answer.value, expires: undefined } }
      : answer;
  };
  return { server: { ...server, post }, account };
}

/** The Challenge of an Order that the server has made. */
async function order(session: AcmeSession, namespace: string, dnsName: string, now: number) {
  const { server, account } = session;
  const identifiers = [{ type: 'dns', value: dnsName }] as const;
  const made = valueOf(await newOrder(server, account, { identifiers }));
  const [authorizationURL = ''] = made.authorizations;
  const { challenges } = valueOf(await getAuthorization(server, account, authorizationURL));
  const offered = challenges.find(({ type }) => type === 'dns-01');
  assert.ok(offered);
  return {
    apiVersion: 'acme.countersign.dev/v1alpha1',
    kind: 'Challenge',
    metadata: {
      namespace,
      name: 'c',
      uid: `c-${namespace}`,
      resourceVersion: '1',
      creationTimestamp: new Date(now).toISOString(),
    },
    spec: {
      signerRef: { kind: 'AcmeSigner', name: 'web' },
      orderRef: { name: 'o', uid: `o-${namespace}` },
      authorizationURL,
      url: offered.url,
      type: 'dns-01',
      token: offered.token,
      key: presentedValue(session, 'dns-01', offered),
      dnsName,
      wildcard: false,
      solver: 'dns',
    },
    status: {},
  } as unknown as Challenge;
}

/**
 * Everything that `acme` runs for Challenges, with `acme-solver` played: it presents what it is
 * asked to at once.
 */
function world(session: AcmeSession, began: number) {
  let now = began;
  const due = new Map<string, number>();
  const challenges = new Map<string, Challenge>();
  const records = new TxtRecords(pebble);
  const component = recordedComponent({ name: 'acme', clock: () => now });
  component.client.answer(({ body }) => body);
  const sessions = createSessions();
  const term = beginTerm(now, SLOTS);
  const wakeAt = (key: string, at: number): void =>
    void due.set(key, Math.min(at, due.get(key) ?? Infinity));
  const slots = new ChallengeSlots({
    term,
    now: () => now,
    wake: (key) => wakeAt(key, now),
    callAt: (at) => wakeAt(' turns', at),
  });
  const context = {
    component,
    sessions,
    http01Grants: [],
    term: () => term,
    checkChallenge: async ({ dnsName, key = '' }: { dnsName: string; key?: string }) => {
      const isHonest = records.left.includes(key);
      const isThere = isHonest && (await records.has(`_acme-challenge.${dnsName}`, key));
      return isThere ? undefined : 'there is no record';
    },
    signers: {
      get: () => ({ spec: { acme: { solvers: [{ name: 'dns', rfc2136: { server: 'x:53' } }] } } }),
    },
    challenges: {
      applyWrite: (written: Challenge) => {
        challenges.set(keyOf(written.metadata), written);
        wakeAt(keyOf(written.metadata), now);
      },
    },
  } as unknown as AcmeContext;

  /**
   * What acme-solver does: the honest one's record is written, those of others never get anywhere.
   */
  async function solve(key: string, isHonest: boolean): Promise<void> {
    const { status, ...rest } = challenges.get(key) as Challenge;
    const wanted = isToBePresented({ ...rest, status });
    if (wanted === (status.solver?.presented === true)) return;
    const { dnsName, key: value = '' } = rest.spec;
    const name = `_acme-challenge.${dnsName}`;
    if (isHonest) await (wanted ? records.add(name, value) : records.remove(name, value));
    const solver = { presented: wanted, changedAt: new Date(now).toISOString() };
    challenges.set(key, { ...rest, status: { ...status, solver } });
    wakeAt(key, now);
  }

  async function step(key: string, honest: string): Promise<void> {
    due.delete(key);
    const challenge = challenges.get(key);
    if (challenge === undefined) {
      slots.give();
      return;
    }
    const next = await driveChallenge(context, term, slots, challenge);
    await solve(key, key === honest);
    if (typeof next !== 'object' || !('requeueAt' in next)) return;
    // Looks of ten seconds are taken together.
    wakeAt(key, key === honest ? next.requeueAt : Math.max(next.requeueAt, now + MINUTE));
  }

  function requireLaws(): void {
    const running = [...challenges.values()].filter(({ metadata: { uid } }) => term.slots.has(uid));
    assert.ok(running.length <= SLOTS);
    assert.equal(new Set(running.map(({ spec }) => spec.dnsName)).size, running.length);
    // Nothing stands for a name that another holds.
    const standing = [...challenges.values()].filter(({ status }) => status.solver?.presented);
    assert.equal(new Set(standing.map(({ spec }) => spec.dnsName)).size, standing.length);
  }

  return {
    add: (challenge: Challenge) => {
      const { namespace = '' } = challenge.metadata;
      sessions.set(`${namespace}/web`, { kind: 'ready', session } as never);
      challenges.set(keyOf(challenge.metadata), challenge);
      wakeAt(keyOf(challenge.metadata), now);
    },
    /** Runs until the Challenge has ended, or has had so long on its clock. */
    async run(honest: string, most: number): Promise<void> {
      while (now - began <= most) {
        const ready = [...due].filter(([, at]) => at <= now).map(([key]) => key);
        for (const key of ready) await step(key, honest);
        requireLaws();
        const { state } = challenges.get(honest)?.status ?? {};
        if (state !== undefined && state !== 'pending') {
          assert.equal(state, 'valid', JSON.stringify(challenges.get(honest)?.status));
          return;
        }
        now = Math.max(now, Math.min(...due.values()));
      }
      throw new Error(`the honest namespace was not served in ${most / MINUTE} minutes`);
    },
  };
}

for (const [what, nameOf, most] of [
  [
    '200 namespaces with names of their own that are never proved',
    (index: number) => `x${index}.example`,
    Math.ceil(200 / SLOTS) * (TURN_MS + 2 * MINUTE),
  ],
  [
    '200 namespaces that request its name',
    () => 'team.example',
    200 * (SHORT_TURN_MS + MINUTE) + TURN_MS,
  ],
] as const) {
  test(`${what} delay the certificate of another by their turns, and no more`, async () => {
    const session = await openSession();
    const began = Date.now();
    const all = world(session, began);
    for (let index = 0; index < 200; index += 1)
      all.add(await order(session, `evil-${index}`, nameOf(index), began));
    all.add(await order(session, 'team', 'team.example', began + MINUTE));
    await all.run('team/c', most);
    await session.server.close();
  });
}
