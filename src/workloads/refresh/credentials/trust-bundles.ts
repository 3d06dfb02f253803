// SPDX-License-Identifier: Apache-2.0
import { createHash } from 'node:crypto';
import { isProjected, type ClusterTrustBundle } from '#api/object/cluster-trust-bundle.ts';
import type { TrustBundleSource } from '#api/object/pod.ts';
import { parseTime } from '#api/object/time.ts';
import { TextIndex } from '#base/text-index.ts';
import { publishedAnchors } from '#pki/x509/trust-bundle.ts';
import type { CurrentLeaf } from './leaf.ts';

/** A bundle, and since when its anchors are known to be unchanged. */
interface KnownBundle {
  readonly bundle: ClusterTrustBundle;
  readonly anchors: readonly string[];
  /** Undefined if the anchors have not changed since this process first saw them. */
  readonly changedAt: number | undefined;
}

/** A third of this time is the deadline for applications that do not read anchors again. */
const BUNDLE_PATIENCE_MS = 24 * 60 * 60_000;

/**
 * The mounted ClusterTrustBundles. A bundle does not record when its anchors changed. So a workload
 * whose template has no record of the bundle is restarted only for a change that this process has
 * seen. A start of this process restarts no workload.
 */
export class TrustBundles {
  readonly #bundles = new Map<string, KnownBundle>();
  /** A number that changes with each change of anchors. */
  #version = 0;
  readonly #signers = new TextIndex<KnownBundle>(({ bundle }) => bundle.spec.signerName ?? '');

  /** @param time - milliseconds since the epoch */
  onBundle(key: string, now: ClusterTrustBundle | undefined, time: number): void {
    const known = this.#bundles.get(key);
    if (now === undefined) {
      this.#version += 1;
      this.#bundles.delete(key);
      this.#signers.change(key, undefined, known);
      return;
    }
    const anchors = anchorsOf(now.spec.trustBundle);
    const isSame = known === undefined || known.anchors.join() === anchors.join();
    if (known?.anchors.join() !== anchors.join()) this.#version += 1;
    const seen = { bundle: now, anchors, changedAt: isSame ? known?.changedAt : time };
    this.#bundles.set(key, seen);
    this.#signers.change(key, seen, known);
  }

  get version(): number {
    return this.#version;
  }

  /**
   * Returns the signer whose anchors a projection has, or undefined if the bundle has no signer or
   * is not known.
   */
  signerOf({ name, signerName }: TrustBundleSource): string | undefined {
    return name === undefined ? signerName : this.#bundles.get(name)?.bundle.spec.signerName;
  }

  /** Returns the last write of the bundles of a projection, or undefined if there are none. */
  lastWrite(used: TrustBundleSource): number | undefined {
    const found = this.#used(used);
    return found.length === 0
      ? undefined
      : Math.max(...found.map(({ bundle }) => writtenAt(bundle)));
  }

  /**
   * Returns the anchors that the kubelet writes for a projection, or undefined if no change is
   * known.
   */
  of(used: TrustBundleSource, recorded: string | undefined): CurrentLeaf | undefined {
    const found = this.#used(used);
    if (found.length === 0) return undefined;
    const changes = found.flatMap(({ changedAt }) => changedAt ?? []);
    if (changes.length === 0 && recorded === undefined) return undefined;
    const anchors = [...new Set(found.flatMap((each) => each.anchors))].sort();
    const lastWrite = Math.max(...found.map(({ bundle }) => writtenAt(bundle)));
    const issuedAt = changes.length === 0 ? lastWrite : Math.max(...changes);
    return {
      hash: createHash('sha256').update(anchors.join()).digest('hex'),
      issuedAt,
      writtenBy: issuedAt,
      isFirst: false,
      remaining: BUNDLE_PATIENCE_MS,
    };
  }

  #used(source: TrustBundleSource): readonly KnownBundle[] {
    const { name, signerName = '' } = source;
    const found = name === undefined ? this.#signers.get(signerName) : [this.#bundles.get(name)];
    return found.flatMap((each) =>
      each !== undefined && isProjected(source, each.bundle) ? [each] : [],
    );
  }
}

/**
 * Returns the sorted fingerprints, since the order of anchors and comments between them have no
 * meaning.
 */
function anchorsOf(pem: string): readonly string[] {
  return [...publishedAnchors(pem).keys()].sort();
}

/** Returns the last write by any client. The anchors are at least as old. */
function writtenAt({ metadata }: ClusterTrustBundle): number {
  const { managedFields = [] } = metadata;
  const times = managedFields.map(({ time = '' }) => parseTime(time));
  return Math.max(
    parseTime(metadata.creationTimestamp),
    ...times.filter((time) => !Number.isNaN(time)),
  );
}
