// SPDX-License-Identifier: Apache-2.0
/** What a component finds out about its key holder, and where it reports it. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SignerError } from '#base/errors.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { openWithHolder } from '#ca/custody/held.ts';
import type { HeldKeyFacts, KeyHolder } from '#ca/custody/holder-client.ts';
import type { FoundFault } from '#component/serving-state.ts';
import { reportHolderRefusal } from '#requests/loop/holder-refusal.ts';
import { watchHolder, type HolderWatch } from '#requests/ca/holder-watch.ts';
import { certificateAuthority } from '../../support/ca/generated.ts';
import {
  recordedComponent,
  type RecordedComponent,
} from '../../support/component/recorded-component.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const SIGNER = 'example.com/workload';
const ca = await certificateAuthority();
const END = Date.UTC(2036, 0, 1);
const keyHolder = { namespace: 'countersign-keys', key: 'workload', chain: ca.certificate };
const held = (): ClusterSigner => workload({ authority: { keyHolder } });

/** What the holder answers now, for the keys that a test does not name. */
let away: string | undefined;
let facts: HeldKeyFacts | SignerError;
let factsOf: Readonly<Record<string, HeldKeyFacts>>;
let tell: (fault: string | undefined) => void;
const holder: KeyHolder = {
  describe: (name) => {
    const answer = factsOf[name] ?? facts;
    return answer instanceof SignerError ? Promise.reject(answer) : Promise.resolve(answer);
  },
  sign: () => assert.fail(),
  probe: () => Promise.resolve(away),
  onChange: (listener) => {
    tell = listener;
  },
  stop: () => undefined,
};

/** Opens a CA whose key has that name in the holder. */
function openHeld(certificate: string, name: string): Authority {
  const heldKey = { name, signerName: SIGNER };
  return openWithHolder(holder)({ certificate, key: '', anchors: undefined, heldKey }, Date.now());
}

const factsFor = ({ facts: { certificate } }: Authority): HeldKeyFacts => ({
  spki: certificate.publicKey.spki,
  signerNames: [SIGNER],
  notAfter: END,
});

const authority = openHeld(ca.certificate, keyHolder.key);
const GOOD = factsFor(authority);

/** The CA that signs now. */
let signing: Authority;
let faults: Map<string, FoundFault>;
let component: RecordedComponent;
let watch: HolderWatch;
beforeEach(() => {
  away = undefined;
  facts = GOOD;
  factsOf = {};
  signing = authority;
  faults = new Map();
  component = recordedComponent({
    name: 'pcr-issuer',
    serving: {
      report: (_, fault) => faults.set(fault.reason, fault),
      retract: (_, reason) => faults.delete(reason),
    },
    delay: async (ms, signal) => {
      await sleep(ms, undefined, signal === undefined ? {} : { signal });
    },
  });
  watch = watchHolder({ component, holder, authorityOf: () => signing });
});
afterEach(() => {
  watch.stop();
});

/** Lets the watch look once more. */
async function look(): Promise<void> {
  tell(away);
  await sleep(5);
}

const lastOf = (series: string): readonly unknown[] | undefined =>
  component.counted.findLast(([name]) => name === series);

test('a holder with the key of the CA is no fault, and its end is a metric', async () => {
  watch.serve([held()]);
  await look();
  assert.deepEqual([...faults], []);
  assert.equal(watch.faultOf(held()), undefined);
  assert.deepEqual(lastOf('keyUsable'), ['keyUsable', { signer: SIGNER }, 1]);
  assert.deepEqual(lastOf('keyEnd'), ['keyEnd', { signer: SIGNER }, END / 1000]);
});

test('a holder that is away is reported with the command for its log, until it is back', async () => {
  away = 'connect ENOENT';
  watch.serve([held()]);
  await look();
  const fault = faults.get('KeyHolderUnavailable');
  assert.equal(fault?.stops, true);
  assert.match(fault.message, /connect ENOENT; .*deployment\/countersign-pcr-issuer -c key-holder/);
  assert.equal(watch.faultOf(held()), 'connect ENOENT');
  assert.deepEqual(lastOf('keyUsable'), ['keyUsable', { signer: SIGNER }, 0]);
  away = undefined;
  await look();
  assert.deepEqual([...faults], []);
  assert.equal(watch.faultOf(held()), undefined);
});

const WRONG: readonly (readonly [what: string, facts: HeldKeyFacts | SignerError, says: RegExp])[] =
  [
    ['another key', { ...GOOD, spki: new Uint8Array(3) }, /is not the key of the CA certificate/],
    ['a key for other signers', { ...GOOD, signerNames: [] }, /lack example\.com\/workload/],
    [
      'no key of the name',
      new SignerError({ code: 'KEY_HOLDER_REFUSED', disposition: 'wait', message: 'no key' }),
      /no key/,
    ],
  ];

for (const [what, wrong, says] of WRONG) {
  test(`a holder with ${what} is reported before any request waits for it`, async () => {
    facts = wrong;
    watch.serve([held()]);
    await look();
    assert.deepEqual([...faults.keys()], ['KeyHolderKeyWrong']);
    assert.match(faults.get('KeyHolderKeyWrong')?.message ?? '', says);
    away = 'gone';
    await look();
    assert.deepEqual([...faults.keys()], ['KeyHolderUnavailable']);
  });
}

test('the key of the CA that signs is checked, while its replacement is only published', async () => {
  const next = openHeld((await certificateAuthority()).certificate, 'workload-2');
  factsOf = { workload: GOOD, 'workload-2': factsFor(next) };
  const replaced = workload({ authority: { keyHolder: { ...keyHolder, key: 'workload-2' } } });
  watch.serve([replaced]);
  await look();
  assert.deepEqual([...faults], []);
  signing = next;
  await look();
  assert.deepEqual([...faults], []);
  factsOf = { workload: GOOD };
  await look();
  assert.deepEqual([...faults.keys()], ['KeyHolderKeyWrong']);
});

test('a token that cannot be used is a reason of its own, until it can', async () => {
  facts = new SignerError({
    code: 'KEY_HOLDER_TOKEN_UNAVAILABLE',
    disposition: 'authority',
    message: 'token ca: CKR_TOKEN_NOT_PRESENT',
  });
  watch.serve([held()]);
  await look();
  assert.deepEqual([...faults.keys()], ['KeyHolderTokenUnavailable']);
  const { message = '', stops } = faults.get('KeyHolderTokenUnavailable') ?? {};
  assert.equal(stops, true);
  assert.match(message, /CKR_TOKEN_NOT_PRESENT; .*deployment\/countersign-pcr-issuer/);
  facts = GOOD;
  await look();
  assert.deepEqual([...faults], []);
});

test('a holder that no signer uses is left alone', async () => {
  away = 'gone';
  watch.serve([workload()]);
  await look();
  assert.deepEqual([...faults], []);
  assert.deepEqual(component.counted, []);
});

test('a leaf that the holder refuses is reported, and stops no other request', () => {
  const refused = new SignerError({
    code: 'KEY_HOLDER_REFUSED',
    disposition: 'wait',
    message: 'the key holder refused the request: allowed-names: x',
  });
  reportHolderRefusal(component, held(), new Error('another fault'));
  assert.deepEqual([...faults], []);
  reportHolderRefusal(component, held(), refused);
  const fault = faults.get('KeyHolderRefused');
  assert.equal(fault?.stops, false);
  assert.match(fault.message, /allowed-names: x; .*components\.pcr-issuer\.keyHolder/);
});
