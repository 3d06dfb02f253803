// SPDX-License-Identifier: Apache-2.0
/** Who installed Countersign, which decides how something is put right: what others manage is theirs to write. */
import { MANAGED_BY } from '../reconciling/objects/mark.ts';
import { shellWord } from '../quote.ts';

/** By what an installation is managed. */
export type Installer =
  | { readonly kind: 'helm'; readonly release: string; readonly namespace: string }
  /** `countersign operator`, by the object `countersign/cluster`. */
  | { readonly kind: 'operator' }
  /** `kubectl apply` of what `countersign rbac` and kustomize print, or not known. */
  | { readonly kind: 'manifests' };

/** What tells the installer: the labels and annotations of one of its objects. */
export interface InstalledMetadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The installer, by the Deployments of the components. The operator adopts what Helm installed, so its mark is looked for first. */
export function installerOf(all: readonly InstalledMetadata[]): Installer {
  if (all.some(({ labels }) => labels?.[MANAGED_BY] === 'countersign')) return { kind: 'operator' };
  for (const { annotations = {} } of all) {
    const release = annotations['meta.helm.sh/release-name'];
    const namespace = annotations['meta.helm.sh/release-namespace'];
    if (release !== undefined && namespace !== undefined) {
      return { kind: 'helm', release, namespace };
    }
  }
  return { kind: 'manifests' };
}

/** How objects of the installation are put back, as they are desired now. */
export function putBack(installer: Installer): string {
  switch (installer.kind) {
    case 'helm':
      return `${upgrade(installer)} --force-conflicts`;
    case 'operator':
      return 'the operator puts it back by itself, for the signers in spec.signers of countersign/cluster; kubectl describe countersign cluster says what is in its way';
    case 'manifests':
      return 'countersign rbac --from-cluster | kubectl apply --server-side --force-conflicts -f -';
  }
}

/** How an upgrade is brought to its end. */
export function finishUpgrade(installer: Installer): string {
  switch (installer.kind) {
    case 'helm':
      return upgrade(installer);
    case 'operator':
      return 'kubectl describe countersign cluster';
    case 'manifests':
      return 'finish the upgrade: apply the manifests of one version';
  }
}

/** How the definitions of this version are installed. */
export function installDefinitions(installer: Installer): string {
  return installer.kind === 'operator'
    ? putBack(installer)
    : 'kubectl apply --server-side --force-conflicts -f deploy/crds';
}

function upgrade({ release, namespace }: Extract<Installer, { kind: 'helm' }>): string {
  return `helm upgrade ${shellWord(release)} deploy/chart --namespace ${shellWord(namespace)} --reset-then-reuse-values`;
}
