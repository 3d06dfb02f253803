// SPDX-License-Identifier: Apache-2.0
/** What the Makefile runs for a target. */

/** One rule: its prerequisites and the lines of its recipe. */
export interface Rule {
  readonly target: string;
  /** As written: `node_modules controlplane`. */
  readonly needs: string;
  readonly recipe: readonly string[];
  /** The text after `##`, empty where the rule has none. */
  readonly help: string;
}

/** The rules by target, and the values of the variables as written. */
export interface Makefile {
  readonly rules: ReadonlyMap<string, Rule>;
  readonly variables: ReadonlyMap<string, string>;
}

const VARIABLE = /^(?<name>[A-Z]+) *[:?]?= *(?<value>.*)$/;
const RULE = /^(?<target>[a-z][\w./-]*):(?<needs>[^#]*)(?:## (?<help>.*))?$/;

export function readMakefile(text: string): Makefile {
  const rules = new Map<string, Rule & { readonly recipe: string[] }>();
  const variables = new Map<string, string>();
  let last: string[] | undefined;
  for (const line of text.split('\n')) {
    const rule = RULE.exec(line)?.groups;
    const variable = VARIABLE.exec(line)?.groups;
    if (line.startsWith('\t')) last?.push(line.trim());
    else if (variable !== undefined) variables.set(variable['name'] ?? '', variable['value'] ?? '');
    else if (rule !== undefined) {
      const { target = '', needs = '', help = '' } = rule;
      last = [];
      rules.set(target, { target, needs: needs.trim(), recipe: last, help });
    }
  }
  return { rules, variables };
}

/**
 * Returns what `make target` runs: the rule, those of its prerequisites and of the targets that its
 * recipe makes, and the variables in them. Texts of help are not in it.
 */
export function commandsOf({ rules, variables }: Makefile, target: string): string {
  const found = new Set([target]);
  const names = new Set<string>();
  const lines: string[] = [];
  for (const next of found) {
    const { needs = '', recipe = [] } = rules.get(next) ?? {};
    const text = [`${next}: ${needs}`, ...recipe].join('\n');
    lines.push(text);
    for (const name of variablesIn(text)) names.add(name);
    const made = [needs, ...recipe.filter((line) => line.includes('$(MAKE)'))].join(' ');
    for (const word of made.split(/\s+/).filter((each) => rules.has(each))) found.add(word);
  }
  for (const name of names) {
    const value = variables.get(name) ?? '';
    lines.push(`${name} = ${value}`);
    for (const inner of variablesIn(value)) names.add(inner);
  }
  return lines.join('\n');
}

function variablesIn(text: string): readonly string[] {
  return [...text.matchAll(/\$\((?:if \$\()?(\w+)/g)].map(([, name = '']) => name);
}

/** Returns the files and patterns of files of the repository that commands name. */
export function pathsIn(commands: string): readonly string[] {
  const found = commands.matchAll(/\b(?:test|bench|build|demo|examples)\/[\w./*-]*[\w*]/g);
  return [...new Set([...found].map(([path]) => path))];
}

/** Reports whether commands print the summary of node:test. */
export function countsTests(commands: string): boolean {
  return /\bnode\b.* --test\b|test\/integration\/run\.ts/.test(commands);
}
