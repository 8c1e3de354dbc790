import { Component, type ReactNode } from "react";

type Props = { fallback: ReactNode; children: ReactNode };

/** A page that broke, or whose code could not be fetched, must not leave an empty screen. */
export class ErrorBoundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
