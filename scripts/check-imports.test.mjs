// @vitest-environment node
import { describe, expect, it } from "vitest";
import { check } from "./check-imports.mjs";

const files = (list) => check(new Map(Object.entries(list)));

describe("check-imports", () => {
  it("accepts the allowed directions", () => {
    expect(
      files({
        "entry-client.tsx": `import { App } from "@/app/app"; document.title = "x";`,
        "app/app.tsx": `import { Hero } from "@/features/hero/hero"; export const App = () => <Hero />;
          const Admin = lazy(() => import("@/features/admin-shell/guard"));`,
        "features/hero/hero.tsx": `import { cn } from "@/lib/cn"; import { local } from "./local"; import { Button } from "../../components/button";`,
        "features/hero/local.ts": `export const local = () => window.scrollY;`,
        "features/admin-shell/guard.tsx": `import { useForm } from "react-hook-form";`,
        "components/button.tsx": `import { cn } from "@/lib/cn";`,
        "lib/cn.ts": `import type { Session } from "@supabase/supabase-js"; export const cn = clsx;`,
        "lib/cn.test.ts": `import { renderApp } from "@/test/render"; document.body.innerHTML = "";`,
        "test/render.tsx": `export const renderApp = 1;`,
      }),
    ).toEqual([]);
  });

  it.each([
    [
      "lib to components",
      { "lib/a.ts": `import { b } from "@/components/b";`, "components/b.ts": "" },
      /lib must not import components/,
    ],
    [
      "components to features",
      { "components/a.ts": `import { b } from "../features/x/b";`, "features/x/b.ts": "" },
      /components must not import features/,
    ],
    [
      "features to app, even lazily",
      { "features/x/a.ts": `const b = () => import("@/app/b");`, "app/b.ts": "" },
      /features must not import app/,
    ],
    [
      "feature to feature, even a type",
      { "features/x/a.ts": `import type { B } from "@/features/y/b";`, "features/y/b.ts": "" },
      /feature x must not import feature y/,
    ],
    [
      "public route to admin",
      {
        "app/routes/public/home.tsx": `const A = () => import("@/features/admin-shell/guard");`,
        "features/admin-shell/guard.tsx": "",
      },
      /public route must not import features\/admin-shell/,
    ],
    [
      "test helper in code",
      { "lib/a.ts": `import "@/test/render";`, "test/render.tsx": "" },
      /imports the test helper/,
    ],
    [
      "circle, even of a type and a dynamic import",
      {
        "lib/a.ts": `import type { B } from "@/lib/b";`,
        "lib/b.ts": `export const c = () => import("@/lib/c");`,
        "lib/c.ts": `import { a } from "@/lib/a";`,
      },
      /lib\/a\.ts: circle of imports \(lib\/a\.ts → lib\/b\.ts → lib\/c\.ts → lib\/a\.ts\)/,
    ],
    ["missing file", { "lib/a.ts": `import "./gone";` }, /does not exist/],
    ["barrel by name", { "lib/index.ts": `export const a = 1;` }, /no barrel files/],
    [
      "barrel by content",
      { "lib/a.ts": `export * from "./b";`, "lib/b.ts": "" },
      /re-exports lib\/b\.ts/,
    ],
    ["window in a module", { "lib/a.ts": `const w = window.innerWidth;` }, /touches window/],
    [
      "typeof window in a module",
      { "lib/a.ts": `export const server = typeof window === "undefined";` },
      /touches window/,
    ],
    [
      "document in a function that runs at once",
      { "lib/a.ts": `(() => { document.title = ""; })();` },
      /touches document/,
    ],
    [
      "localStorage in a static field",
      { "lib/a.ts": `class A { static b = localStorage.length; }` },
      /touches localStorage/,
    ],
    [
      "a heavy package in the first download",
      {
        "entry-client.tsx": `import "@/app/a";`,
        "app/a.tsx": `import "@/features/contact/form";`,
        "features/contact/form.tsx": `import { useForm } from "react-hook-form";`,
      },
      /brings react-hook-form into the first download \(entry-client\.tsx → app\/a\.tsx → features\/contact\/form\.tsx\)/,
    ],
    [
      "admin code in the first download",
      {
        "entry-client.tsx": `import "@/app/a";`,
        "app/a.tsx": `import "@/features/admin-shell/guard";`,
        "features/admin-shell/guard.tsx": "",
      },
      /brings features\/admin-shell\/guard\.tsx into the first download/,
    ],
  ])("rejects %s", (_, list, expected) => {
    const problems = files(list);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(expected);
  });

  it("accepts properties and parameters with the names of globals", () => {
    expect(
      files({
        "lib/a.ts": `export const a = { window: 1 }; export const b = (document: string) => document.length;
          type T = { c: typeof window }; class K { d = window; e() { return navigator; } } export const f = x.document;`,
      }),
    ).toEqual([]);
  });
});
