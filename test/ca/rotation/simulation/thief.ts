// SPDX-License-Identifier: Apache-2.0
/**
 * A thief with the key of each distrusted CA and every certificate that was ever sent. What is
 * published must let them make no leaf that verifies; and no anchor that left trust by distrust
 * ever re-enters.
 */
import assert from 'node:assert/strict';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import type { ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { Secret } from '#api/object/object.ts';
import type { AuthorityMaterial } from '#ca/custody/contract.ts';
import { slotMaterial } from '#trust/authority/decide/inspect.ts';
import { SignerError, attempt } from '#base/errors.ts';
import { prepare } from '#ca/issuance/prepare.ts';
import { decodeCertificate, fingerprint, type Certificate } from '#pki/x509/certificate.ts';
import { verifyPath } from '#pki/x509/path.ts';
import { anchorFingerprints, readAnchors } from '#pki/x509/trust-bundle.ts';
import { leafInput } from '../../../support/ca/issuing.ts';
import type { CrossRecord } from './cross-record.ts';
import { openOnce } from './open-once.ts';
import { MINUTE } from './scenario.ts';
import type { Known } from './wipes.ts';
import type { Change, World } from './world.ts';

/** The publisher may be down twice, for the longest outage, and be another hour late. */
export const DISTRUST_GRACE_MS = 100 * MINUTE;

/** Throws where the published bundle is of use to the thief. */
export class Thief {
  /** Leaves that were made, and refused. */
  leaves = 0;
  /** Called at each check, for other places than the bundle from which clients learn trust. */
  onCheck: () => void = () => undefined;
  readonly #world: World;
  readonly #crosses: CrossRecord;
  /** Fingerprint → the CA's texts, from every Secret that was ever written. */
  readonly #stolen = new Map<string, AuthorityMaterial>();
  /** CAs that were named for long enough that everybody must have acted on it. */
  readonly #distrusted = new Set<string>();
  /** Anchors that left a bundle while they were out of trust. */
  readonly #left = new Set<string>();
  readonly #made = new Map<string, Promise<Certificate>>();
  #text = '';
  #lateUntil = 0;
  #checks: Promise<void>[] = [];

  constructor(world: World, crosses: CrossRecord) {
    this.#world = world;
    this.#crosses = crosses;
    world.onChange((change) => {
      this.#changed(change);
    });
  }

  /** Once {@link DISTRUST_GRACE_MS} are over since it was named. */
  mustBeDistrusted(fingerprint: string): void {
    const { signer } = this.#world.objects;
    const named = signer?.spec.authority.managed?.distrusted ?? [];
    // Taken back before anybody may have read it.
    if (!named.includes(fingerprint)) return;
    this.#distrusted.add(fingerprint);
    this.check();
  }

  /** What nobody can know any more is nobody's promise; what the Secret alone knows is late. */
  statusDamaged({ distrusted, isRecorded }: Known): void {
    const isKnown = (each: string): boolean =>
      distrusted.has(each) || this.#crosses.hasCertified(each, distrusted);
    for (const each of this.#distrusted) if (!distrusted.has(each)) this.#distrusted.delete(each);
    for (const each of this.#left) if (!isKnown(each)) this.#left.delete(each);
    if (!isRecorded) this.#lateUntil = this.#world.now + DISTRUST_GRACE_MS;
  }

  /** What the status alone knew is lost, and the Secret is not read yet. */
  get isLate(): boolean {
    return this.#world.now <= this.#lateUntil;
  }

  /** What is published now, against all that the thief has. */
  check(): void {
    if (this.isLate) return;
    this.mustNotTrust(this.#text, 'the bundle');
    for (const each of this.#distrusted) this.#mustRefuse(each);
    this.onCheck();
  }

  /** These anchors, which clients are made to believe in. */
  mustNotTrust(text: string, where: string): void {
    if (this.isLate) return;
    const anchors = anchorFingerprints(text);
    for (const each of this.#distrusted) {
      const ways = [each, ...this.#waysTo(each)].filter((print) => anchors.has(print));
      assert.deepEqual(ways, [], `${where} lets a thief of ${each} go on`);
    }
  }

  async settled(): Promise<void> {
    const all = this.#checks;
    this.#checks = [];
    await Promise.all(all);
  }

  #changed({ kind, object, isManaged }: Change): void {
    if (kind === 'secret') this.#steal(object);
    if (kind !== 'bundle' || !isManaged) return;
    const before = anchorFingerprints(this.#text);
    this.#text = (object as ClusterTrustBundle | undefined)?.spec.trustBundle ?? '';
    const now = anchorFingerprints(this.#text);
    const { isLate } = this;
    const returned = [...now].filter((each) => this.#left.has(each) && !isLate);
    assert.deepEqual(returned, [], 'an anchor that left trust by distrust re-enters');
    for (const each of before) if (!now.has(each) && this.#isOut(each)) this.#left.add(each);
    this.check();
  }

  #isOut(anchor: string): boolean {
    const named = new Set([
      ...this.#distrusted,
      ...((this.#world.objects.signer as ClusterSigner).spec.authority.managed?.distrusted ?? []),
    ]);
    return named.has(anchor) || this.#crosses.hasCertified(anchor, named);
  }

  #steal(secret: Secret | undefined): void {
    if (secret === undefined) return;
    for (const slot of ['tls', 'next'] as const) {
      const material = slotMaterial(secret, slot);
      const read = attempt(() => readAnchors(material.certificate));
      const [ca] = read instanceof SignerError ? [] : read;
      if (ca !== undefined && material.key !== '') this.#stolen.set(fingerprint(ca.raw), material);
    }
  }

  /** Roots below which a cross-certificate of this CA's key is valid now. */
  #waysTo(subject: string): readonly string[] {
    const { now } = this.#world;
    return this.#crosses.all
      .filter((each) => each.subject === subject && now < each.certificate.notAfter)
      .map(({ issuer }) => issuer);
  }

  /** A real leaf, with every cross-certificate that was ever sent, below what is published. */
  #mustRefuse(by: string): void {
    const [text, { now }] = [this.#text, this.#world];
    const leaf = this.#leafOf(by);
    if (leaf === undefined) return;
    const intermediates = this.#crosses.all.map(({ certificate }) => certificate);
    this.#checks.push(
      leaf.then((made) => {
        if (now >= made.notAfter) return;
        const anchors = readAnchors(text);
        const path = attempt(() => verifyPath({ leaf: made, intermediates, anchors, now }));
        assert.ok(path instanceof SignerError, `a thief's leaf verifies: ${by}`);
        this.leaves += 1;
      }),
    );
  }

  /** Made once, for as long as its CA lives. */
  #leafOf(by: string): Promise<Certificate> | undefined {
    const known = this.#made.get(by);
    const material = this.#stolen.get(by);
    if (known !== undefined || material === undefined) return known;
    const authority = attempt(() => openOnce(material, this.#world.now));
    if (authority instanceof SignerError) return undefined;
    const { notBefore, notAfter } = authority.facts;
    const prepared = prepare(leafInput(authority, { validity: { notBefore, notAfter } }));
    const made = authority
      .sign(prepared, new AbortController().signal)
      .then((der) => decodeCertificate(der));
    this.#made.set(by, made);
    return made;
  }
}
