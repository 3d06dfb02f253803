// SPDX-License-Identifier: Apache-2.0
/**
 * Builds `cert-manager.yaml` of a release from its Go module, byte for byte as cert-manager's own
 * build writes it. The file has the license, the namespace, the definitions and the other objects,
 * in this order.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderChart, type RenderedChart } from './render.ts';

const SEPARATOR = '---\n';

/**
 * Returns the bytes of the published file.
 *
 * @param version - such as `1.21.2`
 * @param helm - path of the program
 */
export async function publishedFile(version: string, helm: string): Promise<Buffer> {
  const chart = await renderChart(version, helm);
  const read = (path: string): Promise<string> => readFile(join(chart.module, path), 'utf8');
  const found = (text: string, what: RegExp): string => {
    const [value] = what.exec(text) ?? [];
    if (value === undefined) throw new Error(`cert-manager ${version}: no ${what.source}`);
    return value;
  };
  const year = found(await read('make/licenses.mk'), /(?<=^LICENSE_YEAR=)\d+/m);
  const license = (await read('hack/boilerplate-yaml.txt')).replaceAll('YEAR', year);
  const tools = await read('make/_shared/tools/00_mod.mk');
  const builtBy = found(tools, /(?<=^tools \+= helm=)v\d+\.\d+/m);
  const others = builtBy === 'v4.1' ? trimmed(chart) : keptEnds(chart);
  const parts = [
    await read('deploy/manifests/namespace.yaml'),
    definitionsOf(chart.all).join(SEPARATOR),
    others.join(SEPARATOR),
  ];
  return Buffer.from(`${license}${parts.join(`\n${SEPARATOR}`)}`);
}

/** Returns the SHA-256 as hex. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The build takes the definitions from the chart with `crds.enabled`, and trims each. */
function definitionsOf(text: string): readonly string[] {
  return documentsOf(text)
    .filter((each) => /^kind: CustomResourceDefinition$/m.test(each))
    .map((each) => `${each.trim()}\n`);
}

/** Splits at `---`, which Helm writes before each document. */
function documentsOf(text: string): readonly string[] {
  return text.replace(/^---\n/, '').split(/^---\n/m);
}

/** Helm 4.1, which built 1.20, removes the spaces around each document. */
function trimmed({ others }: RenderedChart): readonly string[] {
  return documentsOf(others).map((each) => `${each.trim()}\n`);
}

/** Helm 4.2, which built 1.21, keeps the spaces after the last document of a template. */
function keptEnds(chart: RenderedChart): readonly string[] {
  const documents = documentsOf(chart.others);
  const templates = Map.groupBy(documents, sourceOf);
  const last = new Set(
    [...templates].map(([path, each]) => lastOf(each, chart.templates.get(path) ?? '')),
  );
  return documents.map((each) => (last.has(each) ? each : `${each.trim()}\n`));
}

function sourceOf(document: string): string {
  return /^# Source: cert-manager\/(\S+)/.exec(document)?.[1] ?? '';
}

/**
 * Helm orders documents by kind. The last document of a template has the kind at its end.
 */
function lastOf(documents: readonly string[], template: string): string | undefined {
  const kind = [...template.matchAll(/^kind: \w+$/gm)].at(-1)?.[0] ?? '';
  return documents.findLast((each) => each.split('\n').includes(kind)) ?? documents.at(-1);
}
