// SPDX-License-Identifier: Apache-2.0
/** What a namespace's CA may cost everybody else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { SIGNER_NAME } from '#api/signer/grant.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { observe } from '#trust/authority/decide/observe.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { usableAuthority } from '#requests/ca/usable-authority.ts';
import { NOW } from '../../support/pki/chain.ts';
import { ROOT, openIntermediate } from '../../support/ca/intermediate.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { workload } from '../../support/signers/workload-profile.ts';

const CHECKED = {
  observedGeneration: 1,
  conditions: [{ type: 'Ready', status: 'True' as const, reason: 'Checked' }],
};

/** Of a CA with an RSA key of so many bits. */
function rsaAuthority(bits: number): Authority {
  const opened = openIntermediate();
  const { certificate } = opened.facts;
  const publicKey = { ...certificate.publicKey, algorithm: 'RSA' as const, bits };
  return { ...opened, facts: { ...opened.facts, certificate: { ...certificate, publicKey } } };
}

/**
 * Of a CA whose certificates have so many name constraints together: half permitted, half excluded.
 */
function constrainedAuthority(count: number): Authority {
  const opened = openIntermediate();
  const { certificate } = opened.facts;
  const subtree = { kind: 'dns' as const, text: 'a.example' };
  const half = Array.from({ length: count / 2 }, () => subtree);
  const nameConstraints = { permitted: half, excluded: half, hasOther: false };
  return {
    ...opened,
    facts: {
      ...opened.facts,
      certificate: { ...certificate, nameConstraints },
      intermediates: [],
    },
  };
}

/** What the Secret holds: so many characters, most of them in one key, and so many anchors. */
interface SecretParts {
  readonly characters?: number;
  readonly longest?: string;
  readonly anchors?: number;
}

interface Looked {
  /** What a signer says of it, and what `authority` does. */
  readonly usable: Authority | SignerError;
  readonly ready: boolean;
  readonly message: string;
  readonly opened: number;
}

function look(
  signer: ClusterSigner,
  authority: Authority,
  { characters = 4_000, longest = 'ca.crt', anchors }: SecretParts = {},
): Looked {
  let opened = 0;
  const open = (): Authority => {
    opened += 1;
    return authority;
  };
  const annotations = { [SIGNER_NAME]: signer.spec.signerName };
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...signer.metadata, name: 'team-ca', annotations },
    data: {
      'tls.crt': 'x',
      'tls.key': 'x',
      [longest]: 'x'.repeat(characters - 2),
      ...(anchors === undefined ? {} : { 'ca.crt': base64(ROOT.toString().repeat(anchors)) }),
    },
  };
  const common = {
    signer,
    bundle: undefined,
    propagationSeconds: 600,
    isBundleKnown: false,
    secretNamespace: 'countersign-keys',
    now: NOW,
  };
  const usable = attempt(() => usableAuthority({ ...common, secret, open, last: () => undefined }));
  const { isReady, message } = observe({
    ...common,
    elder: undefined,
    serving: undefined,
    specError: undefined,
    clocksApart: false,
    secret: { kind: 'found', secret },
    inspect: () => open().facts,
  });
  return { usable, ready: isReady, message, opened };
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

const team = teamSigner({}, CHECKED);

test('a Signer’s Secret that is too large stays closed; the status names the limit', () => {
  const { usable, ready, message, opened } = look(team, openIntermediate(), { characters: 65_537 });
  assert.ok(usable instanceof SignerError && usable.code === 'AUTHORITY_INVALID');
  assert.deepEqual([ready, opened], [false, 0]);
  assert.match(message, /65537 characters together; the Secret of a Signer may have 65536/);
  assert.equal(look(team, openIntermediate(), { characters: 65_536 }).ready, true);
  assert.equal(
    look(team, openIntermediate(), { characters: 65_537, longest: 'cross.crt' }).opened,
    0,
  );
});

test('a Signer with a slow key type signs nothing: it would delay other namespaces', () => {
  const { usable, ready, message } = look(team, rsaAuthority(16_384));
  assert.ok(usable instanceof SignerError && usable.code === 'AUTHORITY_INVALID');
  assert.equal(ready, false);
  assert.match(message, /RSA key of 16384 bits.*may have 4096/);
  assert.equal(look(team, rsaAuthority(4096)).ready, true);
});

test('a Signer’s Secret with more than eight anchors is not opened, says the status', () => {
  const { usable, ready, message, opened } = look(team, openIntermediate(), {
    longest: 'tls.crt',
    anchors: 9,
  });
  assert.ok(usable instanceof SignerError && usable.code === 'AUTHORITY_INVALID');
  assert.deepEqual([ready, opened], [false, 0]);
  assert.match(message, /ca\.crt has 9 trust anchors; that of a Signer may have 8/);
  assert.equal(look(team, openIntermediate(), { longest: 'tls.crt', anchors: 8 }).ready, true);
});

test('a Signer’s CA with many name constraints signs nothing: leaves cost too much', () => {
  const { usable, ready, message } = look(team, constrainedAuthority(34));
  assert.ok(usable instanceof SignerError && usable.code === 'AUTHORITY_INVALID');
  assert.equal(ready, false);
  assert.match(message, /34 name constraints together.*may have 32/);
  assert.equal(look(team, constrainedAuthority(32)).ready, true);
});

test('a ClusterSigner’s CA has no such limits', () => {
  const own = workload({ 'authority.managed.secret.namespace': 'countersign-keys' });
  const { trustBundle: _, ...spec } = own.spec;
  const signer = { ...own, spec, status: CHECKED };
  assert.equal(look(signer, rsaAuthority(8192), { characters: 500_000 }).ready, true);
  assert.equal(
    look(signer, constrainedAuthority(200), { longest: 'tls.crt', anchors: 100 }).ready,
    true,
  );
});
