import { lazy, useState, type ComponentType } from "react";

/** A component whose code loads on demand. `preload` loads the code in advance. */
export type LazyComponent<P> = ComponentType<P> & { preload(): Promise<void> };

/**
 * Makes a component whose code is in a separate chunk, like React's `lazy`, but with a function `preload`. Once the code has loaded,
 * the component renders immediately, without suspending. Hydration needs that, so the entry preloads the components of the first page.
 */
export function lazyWithPreload<P extends object>(
  load: () => Promise<ComponentType<P>>,
): LazyComponent<P> {
  let loaded: ComponentType<P> | undefined;
  let loading: Promise<{ default: ComponentType<P> }> | undefined;
  const loadOnce = () => {
    loading ??= load().then((component) => {
      loaded = component;
      return { default: component };
    });
    // A chunk that failed to load is requested again at the next attempt.
    loading.catch(() => (loading = undefined));
    return loading;
  };
  // The server renders synchronously, so there every component is loaded at the start.
  if (import.meta.env.SSR) void loadOnce();
  const Lazy = lazy(loadOnce);
  function LazyWithPreload(props: P) {
    // Chosen once per mount, because a later change of the component would lose its state.
    const [Chosen] = useState<ComponentType<P>>(() => loaded ?? Lazy);
    return <Chosen {...props} />;
  }
  return Object.assign(LazyWithPreload, {
    preload: async () => {
      await loadOnce();
    },
  });
}
