// SPDX-License-Identifier: Apache-2.0
/** Issuers that are refused before an upstream CA signs: judgeChain refuses each of them, too. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal, judgeChain } from '#ca/upstream/judge-chain.ts';
import { judgeIssuers } from '#ca/upstream/judge-issuers.ts';
import type { WantedCa } from '#ca/upstream/wanted-ca.ts';
import { encodePem } from '#pki/der/pem.ts';
import { fingerprint } from '#pki/x509/certificate.ts';
import { NOW, ca, keyIds, link, usage, type Link } from '../../support/pki/chain.ts';

const parts = (name: string, pathLen?: number) => ({
  extensions: [ca(pathLen), usage(), ...keyIds(name)],
});
const DAY = 86_400_000;

const ROOT = link('root', parts('root'));
const ISSUER = link('issuer', { ...parts('issuer'), by: ROOT });
const ZERO = link('zero', { ...parts('zero', 0), by: ROOT });
const ONE = link('one', { ...parts('one', 1), by: ROOT });
const END = ISSUER.certificate.notAfter;

const WANTED: WantedCa = {
  trust: {
    rootFingerprint: fingerprint(ROOT.certificate.raw),
    anchor: 'Root',
    trustEverythingBelow: true,
  },
  crossSigned: false,
  signsCrls: false,
  minSeconds: 2 * 86_400,
  names: { uris: [], dnsNames: [], ipAddresses: [], emails: [] },
  purposes: [],
  isDistrusted: () => false,
};

const trust = (more: Partial<WantedCa['trust']>): Partial<WantedCa> => ({
  trust: { ...WANTED.trust, ...more },
});
const print = (of: Link): string => fingerprint(of.certificate.raw);

interface Refused {
  readonly reason: string;
  readonly issuers: readonly [Link, ...Link[]];
  readonly wanted?: Partial<WantedCa>;
  readonly now?: number;
}

const REFUSED: readonly Refused[] = [
  { reason: 'RootMissing', issuers: [ISSUER] },
  {
    reason: 'RootMismatch',
    issuers: [ISSUER, ROOT],
    wanted: trust({ rootFingerprint: print(ONE) }),
  },
  {
    reason: 'ConsentMissing',
    issuers: [ISSUER, ROOT],
    wanted: trust({ trustEverythingBelow: false }),
  },
  {
    reason: 'ConsentMissing',
    issuers: [ISSUER, ROOT],
    wanted: trust({ anchor: 'Issuer', trustEverythingBelow: false }),
  },
  {
    reason: 'AnchorDistrusted',
    issuers: [ISSUER, ROOT],
    wanted: { isDistrusted: (each) => each === print(ROOT) },
  },
  { reason: 'PathLengthExceeded', issuers: [ZERO, ROOT] },
  { reason: 'PathLengthExceeded', issuers: [ONE, ROOT], wanted: { crossSigned: true } },
  { reason: 'CertificateExpired', issuers: [ISSUER, ROOT], now: END + DAY },
  { reason: 'LifetimeTooShort', issuers: [ISSUER, ROOT], now: END - DAY },
  { reason: 'CertificateNotYetValid', issuers: [ISSUER, ROOT], now: NOW - 3650 * DAY },
];

for (const { reason, issuers, wanted, now = NOW } of REFUSED) {
  const names = issuers.map(({ name }) => name).join(', ');
  const { anchor } = { ...WANTED, ...wanted }.trust;
  test(`refuses ${names} as ${reason} before and after the signature, anchor ${anchor}`, () => {
    const all = { ...WANTED, ...wanted };
    const [first, ...more] = issuers.map(({ certificate }) => certificate);
    assert.ok(first !== undefined);
    const before = judgeIssuers([first, ...more], all, now);
    assert.equal(typeof before === 'number' ? 'accepted' : before.reason, reason);
    // The CA that such issuers would sign.
    const signed = link('ca', {
      ...parts('ca', wanted?.crossSigned === true ? 1 : 0),
      by: issuers[0],
    });
    const chain = [signed, ...issuers].map(({ certificate }) =>
      encodePem('CERTIFICATE', certificate.raw),
    );
    const after = judgeChain({
      chain: chain.join(''),
      request: signed.certificate,
      wanted: all,
      now,
    });
    assert.equal(isRefusal(after) ? after.reason : 'accepted', reason);
  });
}

test('returns the first end of the issuers that may sign', () => {
  const chain = [ISSUER.certificate, ROOT.certificate] as const;
  assert.equal(judgeIssuers(chain, WANTED, NOW), Math.min(END, ROOT.certificate.notAfter));
  const own = { ...WANTED, ...trust({ anchor: 'Authority', trustEverythingBelow: false }) };
  assert.equal(typeof judgeIssuers(chain, own, NOW), 'number');
  const one = judgeIssuers([ONE.certificate, ROOT.certificate], WANTED, NOW);
  assert.equal(typeof one, 'number');
});
