// SPDX-License-Identifier: Apache-2.0
/** What must hold at every moment, for every reader of the bundle. */
import assert from 'node:assert/strict';
import type {
  AuthorityStatus,
  ClusterSigner,
  ClusterSignerStatus,
} from '#api/signer/cluster-signer.ts';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { KubeObject } from '#api/object/object.ts';
import { SIGNS_AT_ONCE } from '#api/signer/rotation-annotations.ts';
import { parseTime } from '#api/object/time.ts';
import type { Authority } from '#ca/custody/contract.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { decodeCertificate } from '#pki/x509/certificate.ts';
import { nameText } from '#pki/names/distinguished-name.ts';
import { verifyPath } from '#pki/x509/path.ts';
import { anchorFingerprints, readAnchors } from '#pki/x509/trust-bundle.ts';
import { leafInput } from '../../../support/ca/issuing.ts';
import { CrossRecord } from './cross-record.ts';
import { Pinned } from './pinned.ts';
import { DISTRUST_GRACE_MS, Thief } from './thief.ts';
import type { Cut, Known } from './wipes.ts';
import type { Change, World } from './world.ts';

/** Kubelets that read a bundle by name lag by up to 374 s (kubernetes/kubernetes#141439). */
export const READER_LAG_MS = 374_000;
/** A watch that is half-open shows that after 75 s. */
export const LONGEST_LAG = 76_000;
/** A verifier's clock may be late by less than this, which is what the API server grants. */
const LATE_CLOCK_MS = 300_000;

/**
 * Until what the Secret holds is in the status and the bundle again, though who writes them is
 * away.
 */
const DAMAGE_GRACE_MS = DISTRUST_GRACE_MS;

interface Version {
  readonly from: number;
  readonly anchors: ReadonlySet<string>;
  readonly text: string;
}

export interface Leaf {
  readonly authority: Authority;
  readonly notBefore: number;
  readonly notAfter: number;
}

/**
 * Keeps the bundles of the last minutes and the end of each CA's last leaf; throws what is broken.
 */
export class Laws {
  /** CAs that an administrator distrusts: nobody promises anything of their leaves. */
  readonly distrusted = new Set<string>();
  readonly #distrustedAt = new Map<string, number>();
  /**
   * CAs that sign without waiting, after a distrusted one: only readers that do not lag have them.
   */
  readonly atOnce = new Set<string>();
  /** The whole status, once. */
  wasStatusLost = false;
  leaves = 0;
  checks = 0;
  onDelivery: (leaf: Leaf) => void = () => undefined;
  /** Verifiers that read no bundle. */
  readonly pinned: Pinned;
  readonly crosses: CrossRecord;
  readonly thief: Thief;
  readonly #world: World;
  /** Newest first; those that nobody can still read are dropped. */
  #versions: readonly Version[] = [];
  /** Fingerprint → until when nobody promises anything of its leaves. */
  readonly #cutUntil = new Map<string, number>();
  /** Fingerprint → when the last leaf of that CA ends. */
  readonly #lastLeaf = new Map<string, number>();
  readonly #real = new Map<string, Uint8Array>();
  readonly #verified = new Set<string>();
  readonly #names = new Map<string, string>();

  constructor(world: World) {
    this.#world = world;
    this.pinned = new Pinned(world);
    this.crosses = new CrossRecord(world);
    this.thief = new Thief(world, this.crosses);
    world.onChange((change) => {
      this.#changed(change);
    });
  }

  /** From now on its leaves are nobody's promise, and soon there are none. */
  distrust(fingerprint: string): void {
    this.distrusted.add(fingerprint);
    this.#distrustedAt.set(fingerprint, this.#world.now);
    this.pinned.distrust(fingerprint);
  }

  /** The status was damaged: what this takes away is nobody's promise any more. */
  statusDamaged(known: Known, { forGood, forNow, forOldLeaves }: Cut): void {
    const { now } = this.#world;
    const cut = (print: string, until: number): void => {
      this.#cutUntil.set(print, Math.max(until, this.#cutUntil.get(print) ?? 0));
    };
    for (const each of forGood) cut(each, Infinity);
    for (const each of forNow) cut(each, now + DAMAGE_GRACE_MS);
    for (const each of forOldLeaves) cut(each, (this.#lastLeaf.get(each) ?? now) + LATE_CLOCK_MS);
    for (const each of this.distrusted) {
      if (known.distrusted.has(each)) continue;
      this.distrusted.delete(each);
      this.#distrustedAt.delete(each);
      this.pinned.forget(each);
    }
    this.thief.statusDamaged(known);
  }

  #mayBeCut(fingerprint: string): boolean {
    return this.#world.now <= (this.#cutUntil.get(fingerprint) ?? 0);
  }

  /** In the end nobody is made to believe in what is distrusted. */
  bundleHasNoDistrusted(): void {
    const served = this.#versions[0]?.anchors ?? new Set();
    const left = [...this.distrusted].filter((each) => served.has(each));
    assert.deepEqual(left, [], 'the bundle serves what is distrusted');
  }

  /**
   * A leaf is made. Who has heard of the distrust makes none; and everybody has heard of it soon.
   */
  signed(fingerprint: string): void {
    const since = this.#distrustedAt.get(fingerprint);
    if (since === undefined) return;
    assert.ok(this.#world.now <= since + LONGEST_LAG, 'a leaf of a CA that is distrusted');
  }

  /** A leaf is in somebody's hands: every reader, however late, must be able to verify it. */
  delivered(leaf: Leaf): void {
    const { facts } = leaf.authority;
    const now = this.#world.now;
    this.leaves += 1;
    this.onDelivery(leaf);
    assert.ok(leaf.notAfter <= facts.notAfter, 'a leaf outlives its CA');
    const lag = this.atOnce.has(facts.fingerprint) ? 0 : READER_LAG_MS;
    const readable = this.#versions.filter(
      (_version, index) => index === 0 || this.#until(index) > now - lag,
    );
    // What is distrusted meanwhile may come late, and is worth nothing to anybody.
    if (this.#isOutOfTrust(facts.fingerprint) || this.#mayBeCut(facts.fingerprint)) return;
    assert.ok(readable.length > 0, 'a leaf before any bundle');
    for (const version of readable) this.#mustVerify(leaf.authority, version, 'a leaf of now');
    const before = this.#lastLeaf.get(facts.fingerprint) ?? 0;
    this.#lastLeaf.set(facts.fingerprint, Math.max(before, leaf.notAfter));
  }

  /** Distrusted, or a way back to one that is: the CA that certified its key (ADR 0022). */
  #isOutOfTrust(fingerprint: string): boolean {
    return (
      this.distrusted.has(fingerprint) || this.crosses.hasCertified(fingerprint, this.distrusted)
    );
  }

  #secretChanged(secret: KubeObject | undefined): void {
    const atOnce = secret?.metadata.annotations?.[SIGNS_AT_ONCE];
    if (atOnce === undefined || this.atOnce.has(atOnce)) return;
    assert.ok(this.distrusted.size > 0, 'a CA signs at once although none is distrusted');
    this.atOnce.add(atOnce);
  }

  #until(index: number): number {
    return this.#versions[index - 1]?.from ?? Infinity;
  }

  #changed({ kind, object, isManaged, at }: Change): void {
    if (kind === 'signer') this.#statusChanged(object as ClusterSigner, isManaged);
    if (kind === 'secret') this.#secretChanged(object);
    if (kind !== 'bundle' || !isManaged) return;
    const text = (object as ClusterTrustBundle | undefined)?.spec.trustBundle ?? '';
    const version = { from: at, anchors: anchorFingerprints(text), text };
    this.#versions = [version, ...this.#versions].filter(
      (_each, index) => index <= 1 || this.#until(index) > at - READER_LAG_MS,
    );
    for (const [fingerprint, end] of this.#lastLeaf) {
      // Nothing of it lives, for the latest of clocks.
      if (end + LATE_CLOCK_MS <= at) this.#lastLeaf.delete(fingerprint);
      else if (!this.#isOutOfTrust(fingerprint) && !this.#mayBeCut(fingerprint)) {
        this.checks += 1;
        assert.ok(
          version.anchors.has(fingerprint),
          `trust in ${fingerprint} is cut too early at ${new Date(at).toISOString()}`,
        );
      }
    }
  }

  /** By its anchor; and once for each CA and version a real leaf, by a real chain. */
  #mustVerify(authority: Authority, { anchors, text }: Version, what: string): void {
    const { facts } = authority;
    this.checks += 1;
    assert.ok(anchors.has(facts.fingerprint), `${what} does not verify against the bundle`);
    const key = `${facts.fingerprint} ${[...anchors].join()}`;
    if (this.#verified.has(key)) return;
    this.#verified.add(key);
    const now = Math.min(Math.max(this.#world.now, facts.notBefore), facts.notAfter);
    const validity = { notBefore: facts.notBefore, notAfter: facts.notAfter };
    const der = this.#real.get(facts.fingerprint);
    if (der !== undefined) {
      verifyPath({
        leaf: decodeCertificate(der),
        intermediates: [],
        anchors: readAnchors(text),
        now,
      });
      return;
    }
    const prepared = prepare(leafInput(authority, { validity }));
    this.#signing.push(
      authority.sign(prepared, new AbortController().signal).then((made) => {
        this.#real.set(facts.fingerprint, made);
        const leaf = decodeCertificate(made);
        verifyPath({ leaf, intermediates: [], anchors: readAnchors(text), now });
      }),
    );
  }

  #signing: Promise<void>[] = [];

  /** Waits for the real chains that are under way. */
  async settled(): Promise<void> {
    const all = this.#signing;
    this.#signing = [];
    await Promise.all([...all, this.pinned.settled(), this.thief.settled()]);
  }

  #before: ClusterSignerStatus['authorities'] = [];

  #statusChanged({ status }: ClusterSigner, isManaged: boolean): void {
    const now = status?.authorities ?? [];
    if (!isManaged) {
      this.#before = now;
      return;
    }
    assert.ok(now.length <= 64, 'more CAs than the CRD takes');
    assert.equal(new Set(now.map((each) => each.fingerprint)).size, now.length, 'a CA twice');
    for (const { fingerprint, leavesExpireBy = '', anchors } of now) {
      const was = this.#before?.find((each) => each.fingerprint === fingerprint)?.leavesExpireBy;
      if (was !== undefined && leavesExpireBy !== '') {
        assert.ok(parseTime(leavesExpireBy) >= parseTime(was), 'leavesExpireBy shrinks');
      }
      this.#mustBeNamedAlone(fingerprint, anchors ?? '');
    }
    this.#mustBeTold(now);
    this.#before = now;
  }

  /**
   * ADR 0021: who dies once the status is written leaves nobody to tell what it says for the first
   * time.
   */
  #mustBeTold(now: readonly AuthorityStatus[]): void {
    const before = this.#before ?? [];
    const phaseIn = (all: readonly AuthorityStatus[], print: string): string | undefined =>
      all.find(({ fingerprint }) => fingerprint === print)?.phase;
    for (const { fingerprint } of [...before, ...now]) {
      const phase = phaseIn(now, fingerprint) ?? 'Gone';
      if (phase === phaseIn(before, fingerprint)) continue;
      const news = `Authority${phase} ${fingerprint}`;
      assert.ok(this.#world.told.has(news), `nobody was told: ${news}`);
    }
  }

  /** Verifiers look an issuer up by its name. */
  #mustBeNamedAlone(fingerprint: string, anchors: string): void {
    if (this.#names.get(fingerprint) !== undefined) return;
    const name = readAnchors(anchors)
      .map(({ subject }) => nameText(subject))
      .join();
    assert.ok(![...this.#names.values()].includes(name), `two CAs are called ${name}`);
    this.#names.set(fingerprint, name);
  }
}
