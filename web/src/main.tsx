import { render } from "preact";
import "./style/base.css";
import "./style/parts.css";
import "./style/pages.css";
import "./style/charts.css";
import "./theme";
import { App } from "./app";

render(<App />, document.getElementById("desk")!);
