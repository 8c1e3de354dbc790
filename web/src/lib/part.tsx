import { lazy, useState, type ComponentType } from "react";

export type Part<P> = ComponentType<P> & { preload(): Promise<void> };

/**
 * The only way to load a part of the site on demand. `preload` lets the entry wait for the part of the
 * first route: what has been preloaded is drawn at once, with no waiting state in between.
 */
export function part<P extends object>(load: () => Promise<ComponentType<P>>): Part<P> {
  let ready: ComponentType<P> | undefined;
  let loading: Promise<{ default: ComponentType<P> }> | undefined;
  const once = () => {
    loading ??= load().then((component) => {
      ready = component;
      return { default: component };
    });
    // A chunk that failed once may load the next time somebody asks.
    loading.catch(() => (loading = undefined));
    return loading;
  };
  // Nothing can wait while the server draws: there every part is ready from the start.
  if (import.meta.env.SSR) void once();
  const Lazy = lazy(once);
  function LoadedPart(props: P) {
    // Chosen once: changing the component later would throw away its state.
    const [Chosen] = useState<ComponentType<P>>(() => ready ?? Lazy);
    return <Chosen {...props} />;
  }
  return Object.assign(LoadedPart, {
    preload: async () => {
      await once();
    },
  });
}
