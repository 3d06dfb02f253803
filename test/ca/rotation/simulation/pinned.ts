// SPDX-License-Identifier: Apache-2.0
/** What verifiers see that have one root in their configuration, and read no bundle (ADR 0022). */
import assert from 'node:assert/strict';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { Secret } from '#api/object/object.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { decodeCertificate, fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { verifyPath } from '#pki/x509/path.ts';
import { readAnchors } from '#pki/x509/trust-bundle.ts';
import { materialOf } from '#requests/ca/usable-authority.ts';
import { leafInput } from '../../../support/ca/issuing.ts';
import type { Signed } from './at-work.ts';
import { LONGEST_LAG } from './laws.ts';
import { openOnce } from './open-once.ts';
import { isNamed } from './scenario.ts';
import type { Change, World } from './world.ts';

/** Throws where a cross-certificate is made, sent or left out that should not be. */
export class Pinned {
  /** Leaves that were sent with one. */
  leaves = 0;
  /** CAs whose key was certified. */
  readonly certified = new Map<string, { readonly issuer: string; readonly end: number }>();
  readonly #world: World;
  readonly #distrustedAt = new Map<string, number>();
  /** As the status told of them, when they were published. */
  readonly #roots = new Map<string, Certificate>();
  readonly #verified = new Set<string>();
  #verifying: Promise<unknown>[] = [];
  #secret: Secret | undefined;

  constructor(world: World) {
    this.#world = world;
    world.onChange((change) => {
      this.#changed(change);
    });
  }

  /** For good: it may be taken out of the list some day. */
  distrust(fingerprint: string): void {
    if (!this.#distrustedAt.has(fingerprint)) this.#distrustedAt.set(fingerprint, this.#world.now);
    for (const [key, { issuer }] of this.certified) {
      if (issuer === fingerprint) this.certified.delete(key);
    }
  }

  /** Nobody can know any more that it is distrusted. */
  forget(fingerprint: string): void {
    this.#distrustedAt.delete(fingerprint);
  }

  async settled(): Promise<void> {
    const all = this.#verifying;
    this.#verifying = [];
    await Promise.all(all);
  }

  /** In the end nothing that a distrusted CA certified is kept. */
  secretHasNoDistrusted(): void {
    const secret = this.#secret;
    if (secret === undefined) return;
    const { facts } = openOnce(materialOf(secret), this.#world.now);
    const { issuer = '' } = facts.cross ?? {};
    assert.ok(!this.#distrustedAt.has(issuer), 'the Secret keeps what a distrusted CA certified');
  }

  /** A leaf is made, and its chain written. */
  signed({ authority, validity, signer, cross }: Signed): void {
    const { facts } = authority;
    for (const each of cross) {
      this.leaves += 1;
      assert.ok(validity.notAfter <= each.notAfter, 'a chain holds what ends before its leaf');
      const issuer = facts.cross?.issuer ?? '';
      assert.ok(!isNamed(signer, issuer), 'what a distrusted CA certified is sent');
      const since = this.#distrustedAt.get(issuer) ?? Infinity;
      assert.ok(this.#world.now <= since + LONGEST_LAG, 'what a distrusted CA certified is sent');
      this.#mustLead(authority, each, issuer);
    }
    const known = this.certified.get(facts.fingerprint);
    const wants = signer.spec.authority.managed?.crossSigned === true;
    if (known === undefined || !wants || isNamed(signer, known.issuer)) return;
    const expected = validity.notAfter <= known.end ? 1 : 0;
    assert.equal(cross.length, expected, 'a cross-certificate is left out');
  }

  /** Once for each: a real leaf, below nothing but the old root. */
  #mustLead(authority: Authority, cross: Certificate, issuer: string): void {
    const key = fingerprint(cross.raw);
    if (this.#verified.has(key)) return;
    this.#verified.add(key);
    const root = this.#roots.get(issuer);
    assert.ok(root !== undefined, 'a CA that nobody was told of certifies');
    const { notBefore, notAfter } = cross;
    const { now } = this.#world;
    const validity = { notBefore: Math.max(notBefore, authority.facts.notBefore), notAfter };
    const prepared = prepare(leafInput(authority, { validity }));
    const signing = authority
      .sign(prepared, new AbortController().signal)
      .then((made) =>
        verifyPath({ leaf: decodeCertificate(made), intermediates: [cross], anchors: [root], now }),
      );
    this.#verifying.push(signing);
  }

  #changed({ kind, object, isManaged }: Change): void {
    if (kind === 'signer') this.#publish(object as ClusterSigner);
    if (kind !== 'secret') return;
    const before = this.#secret;
    this.#secret = object;
    if (isManaged && before !== undefined && this.#secret !== undefined) {
      this.#written(before, this.#secret);
    }
  }

  #publish({ status }: ClusterSigner): void {
    for (const { fingerprint: print, anchors } of status?.authorities ?? []) {
      if (this.#roots.has(print)) continue;
      for (const anchor of readAnchors(anchors ?? ''))
        this.#roots.set(fingerprint(anchor.raw), anchor);
    }
  }

  /** Who follows a CA that could do it is certified by it, in the very write that makes it sign. */
  #written(before: Secret, now: Secret): void {
    const { signer } = this.#world.objects;
    const next = before.data?.['next.crt'];
    if (now.data?.['tls.crt'] === before.data?.['tls.crt'] || signer === undefined) return;
    const old = attempt(() => openOnce(materialOf(before), this.#world.now));
    const could =
      next !== undefined &&
      now.data?.['tls.crt'] === next &&
      signer.spec.authority.managed?.crossSigned === true &&
      !(old instanceof SignerError) &&
      old.facts.certificate.pathLen === 1 &&
      !isNamed(signer, old.facts.fingerprint);
    assert.equal(now.data?.['cross.crt'] !== undefined, could, 'who was to be certified');
    if (!could) return;
    const { facts } = openOnce(materialOf(now), this.#world.now);
    const end = Math.min(old.facts.notAfter, facts.notAfter);
    this.certified.set(facts.fingerprint, { issuer: old.facts.fingerprint, end });
  }
}
