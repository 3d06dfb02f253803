// SPDX-License-Identifier: Apache-2.0
/** What is refused before anything changes. Each check returns the refusal, or undefined. */
import type { ComponentOverrides, CountersignSpec } from '../../api/operator/countersign.ts';
import type { Refusal } from '../../installing/desired.ts';
import { printable, quote, quoteList } from '../../quote.ts';
import { refuseMarks } from './marks.ts';
import { MOULDS, checkArguments, refuseChecked, type Mould } from './mould.ts';

/** What the administrator who installs the operator decides, and the writer of a Countersign does not. */
export interface OperatorSettings {
  /** Where the components run. */
  readonly namespace: string;
  /** Where the CA Secrets are. */
  readonly keysNamespace: string;
  /** The repository of the image, without a tag. */
  readonly image: string;
  /** More repositories that `spec.image.reference` may name. Choosing the image reads CA keys. */
  readonly allowedImages: readonly string[];
  /** Whether `spec.dangerZone` is allowed. */
  readonly dangerZone: boolean;
  /** Moulds by minor version; default: those of this build. */
  readonly moulds?: Readonly<Record<string, Mould>>;
}

/** The minor versions that can be installed, the oldest first. */
export function supportedMinors({ moulds = MOULDS }: OperatorSettings): readonly string[] {
  const numbers = (minor: string): number[] => minor.split('.').map(Number);
  return Object.keys(moulds).sort((a, b) => {
    const [[majorA = 0, minorA = 0], [majorB = 0, minorB = 0]] = [numbers(a), numbers(b)];
    return majorA - majorB || minorA - minorB;
  });
}

/** `0.1` of `0.1.7`; undefined for what is no version. */
export function minorOf(version: string): string | undefined {
  return /^(\d{1,9}\.\d{1,9})\.\d{1,9}$/.exec(version)?.[1];
}

/** The first of all refusals. */
export function refusalOf(spec: CountersignSpec, settings: OperatorSettings): Refusal | undefined {
  return (
    refuseVersion(spec, settings) ??
    refuseImage(spec, settings) ??
    refuseDangerZone(spec, settings) ??
    refuseEnvironment(overridesOf(spec)) ??
    refuseMarks(overridesOf(spec), settings.dangerZone) ??
    refuseArguments(spec, settings)
  );
}

function refuseVersion(
  { version }: CountersignSpec,
  settings: OperatorSettings,
): Refusal | undefined {
  const supported = supportedMinors(settings);
  if (supported.includes(minorOf(version) ?? '')) return undefined;
  const patches = supported.map((each) => `${each}.x`).join(' and ');
  const message = `spec.version: this operator installs ${patches}, and not ${quote(version, 64)}`;
  return { reason: 'UnsupportedVersion', message };
}

function refuseImage({ image }: CountersignSpec, settings: OperatorSettings): Refusal | undefined {
  if (image?.reference === undefined) return undefined;
  const allowed = [settings.image, ...settings.allowedImages];
  if (allowed.includes(repositoryOf(image.reference))) return undefined;
  const message = `spec.image.reference: the repository of ${quote(image.reference, 256)} is not allowed; whoever chooses the image reads CA keys: an administrator adds it to the operator's flags as --allow-image`;
  return { reason: 'ImageNotAllowed', message };
}

/** A reference without its tag and its digest. */
function repositoryOf(reference: string): string {
  const [name = ''] = reference.split('@');
  const slash = name.lastIndexOf('/');
  const colon = name.indexOf(':', slash + 1);
  return colon < 0 ? name : name.slice(0, colon);
}

function refuseDangerZone(
  { dangerZone }: CountersignSpec,
  settings: OperatorSettings,
): Refusal | undefined {
  if (dangerZone === undefined || settings.dangerZone) return undefined;
  const message =
    'spec.dangerZone: it is not allowed; an administrator adds --allow-danger-zone to the operator’s flags';
  return { reason: 'DangerZoneNotAllowed', message };
}

/** What loads code into a component, or leads it to another API server, or lets it trust another CA. */
const FORBIDDEN =
  /^(?:NODE_|LD_|KUBERNETES_|SSL_CERT_|OPENSSL_|GCONV_|GODEBUG|POD_NAMESPACE)|^(?:KUBECONFIG|PATH)$/i;

/** One of `extraEnv`. */
type EnvironmentVariable = NonNullable<ComponentOverrides['extraEnv']>[number];

/**
 * Refuses environment variables that a component must not have.
 *
 * @param overrides - each with its place in the spec
 */
export function refuseEnvironment(
  overrides: readonly (readonly [
    at: string,
    { readonly extraEnv?: readonly EnvironmentVariable[] },
  ])[],
): Refusal | undefined {
  for (const [at, { extraEnv = [] }] of overrides) {
    for (const variable of extraEnv) {
      if (FORBIDDEN.test(variable.name)) {
        const message = `${at}.extraEnv: ${quote(variable.name, 128)} is never set: it could load code into a component, or change whom it trusts`;
        return { reason: 'ForbiddenEnvironment', message };
      }
      if (Object.keys(variable).some((key) => key !== 'name' && key !== 'value')) {
        const message = `${at}.extraEnv: ${quote(variable.name, 128)} may have a value only, and no source`;
        return { reason: 'ForbiddenEnvironment', message };
      }
    }
  }
  return undefined;
}

function refuseArguments(spec: CountersignSpec, settings: OperatorSettings): Refusal | undefined {
  const mould = mouldOf(spec, settings);
  if (spec.defaults?.extraArgs !== undefined) {
    const message =
      'spec.defaults.extraArgs: the components have different flags; write them under spec.components';
    return { reason: 'InvalidArgument', message };
  }
  for (const [component, { extraArgs = [] }] of Object.entries(spec.components ?? {})) {
    const at = `spec.components.${quote(component, 64)}.extraArgs`;
    const refusal = refuseChecked(
      at,
      checkArguments(mould[component], extraArgs),
      (flags) =>
        `version ${spec.version} does not know ${flags}; see countersign ${printable(component)} --help, or use spec.dangerZone`,
    );
    if (refusal !== undefined) return refusal;
  }
  return refuseDangerousArguments(spec.dangerZone?.extraArgs ?? {}, mould);
}

/** Even there: no word by itself, and nothing that the installation sets. */
function refuseDangerousArguments(
  given: Readonly<Record<string, readonly string[]>>,
  mould: Mould,
): Refusal | undefined {
  for (const [component, extraArgs] of Object.entries(given)) {
    const at = `spec.dangerZone.extraArgs.${quote(component, 64)}`;
    if (mould[component] === undefined)
      return { reason: 'InvalidArgument', message: `${at}: there is no such component` };
    const { faults } = checkArguments(mould[component], extraArgs);
    if (faults.length > 0)
      return { reason: 'InvalidArgument', message: `${at}: ${quoteList(faults)}` };
  }
  return undefined;
}

/** The mould of the spec's version, which is supported. */
export function mouldOf(
  { version }: CountersignSpec,
  { moulds = MOULDS }: OperatorSettings,
): Mould {
  return moulds[minorOf(version) ?? ''] ?? {};
}

function overridesOf({
  defaults = {},
  components = {},
}: CountersignSpec): readonly (readonly [string, NonNullable<CountersignSpec['defaults']>])[] {
  const own = Object.entries(components).map(
    ([name, each]) => [`spec.components.${quote(name, 64)}`, each] as const,
  );
  return [['spec.defaults', defaults], ...own];
}
