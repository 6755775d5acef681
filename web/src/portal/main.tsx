import { render } from "preact";
import "../style/base.css";
import "../style/parts.css";
import "../style/pages.css";
import "../style/portal.css";
import { Portal } from "./portal";

render(<Portal />, document.getElementById("portal")!);
